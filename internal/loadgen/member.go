package loadgen

import (
	"math/rand/v2"
	"net/http"
)

var readMember = operation{name: "member", start: func(s *shared, r *rand.Rand) step {
	return &memberStep{s, s.skew.drawer(r, s.members)}
}}

// memberStep reads random members.
type memberStep struct {
	*shared
	draw func() int
}

func (s *memberStep) next(b []byte) ([]byte, bool) {
	b = append(b, "GET "...)
	b = appendUserPath(b, s.shared, s.draw())
	b = append(b, s.headers...)
	return append(b, "\r\n"...), true
}

func (*memberStep) settle(a answer) bool { return a.status == http.StatusOK }
