package loadgen

import (
	"math/rand/v2"
	"net/http"
	"strconv"
)

// maxIncrement bounds one increment. Small, so that a member stays away from the limit of XP, where an increment adds less
// than it says.
const maxIncrement = 10

var increment = operation{name: "increment", changes: true, start: func(s *shared, r *rand.Rand) step {
	return &incrementStep{shared: s, r: r, draw: s.skew.drawer(r, s.active)}
}}

// incrementStep increments random members' XP and keeps the ledger.
type incrementStep struct {
	*shared
	r      *rand.Rand
	draw   func() int
	member int
	amount int64
}

func (s *incrementStep) next(b []byte) ([]byte, bool) {
	s.member, s.amount = s.draw(), 1+s.r.Int64N(maxIncrement)
	const before, after = `{"xp":{"increment":`, `}}`
	digits := 1
	if s.amount > 9 {
		digits = 2
	}
	b = append(b, "PATCH "...)
	b = appendUserPath(b, s.shared, s.member)
	b = append(b, s.headersOf(s.member)...)
	b = appendBodyHeaders(b, len(before)+digits+len(after))
	b = append(b, before...)
	b = strconv.AppendInt(b, s.amount, 10)
	return append(b, after...), true
}

func (s *incrementStep) settle(a answer) bool {
	switch {
	case a.status == http.StatusOK:
		s.ledger.acknowledge(s.member, s.amount)
		return true
	case a.unknown():
		s.ledger.doubt(s.member, s.amount)
	}
	return false
}

func appendUserPath(b []byte, s *shared, member int) []byte {
	b = append(b, s.levelsPath...)
	b = s.appendGuild(b, s.guildOf(member))
	b = append(b, "/users/"...)
	return appendUserID(b, member)
}

// appendBodyHeaders ends the head of a request whose JSON body has that many bytes.
func appendBodyHeaders(b []byte, length int) []byte {
	b = append(b, "Content-Type: application/json\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(length), 10)
	return append(b, "\r\n\r\n"...)
}
