package loadgen

import (
	"math/rand/v2"
	"net/http"
)

var readRank = operation{name: "rank", start: func(s *shared, r *rand.Rand) step {
	return &rankStep{s, s.skew.drawer(r, s.active)}
}}

// rankStep reads random members with their ranks.
type rankStep struct {
	*shared
	draw func() int
}

func (s *rankStep) next(b []byte) ([]byte, bool) {
	b = append(b, "GET "...)
	member := s.draw()
	b = appendUserPath(b, s.shared, member)
	b = append(b, s.headersOf(member)...)
	return append(b, "\r\n"...), true
}

func (*rankStep) settle(a answer) bool { return a.status == http.StatusOK }
