package loadgen

import (
	"math/rand/v2"
	"net/http"
	"sync/atomic"
)

// fillByMessages is the operation that makes every member's entry by a message of its own, up to MaxBatch in a call: some
// fifty times as fast as fill. Members that exist gain XP once more. It says how many members a call makes in the mean.
func fillByMessages(c crowded) (fill operation, each float64) {
	var begun atomic.Int64
	perGuild := (c.membersOf(0) + MaxBatch - 1) / MaxBatch // calls
	calls := perGuild * c.guilds
	return operation{name: "fill", start: func(s *shared, _ *rand.Rand) step {
		return &fillMessagesStep{shared: s, begun: &begun, calls: calls}
	}}, float64(c.members) / float64(calls)
}

type fillMessagesStep struct {
	*shared
	begun *atomic.Int64
	calls int
	call  []spoken
	body  []byte
}

func (s *fillMessagesStep) next(b []byte) ([]byte, bool) {
	for {
		call := int(s.begun.Add(1)) - 1
		if call >= s.calls {
			return b, false
		}
		guild, part := call%s.guilds, call/s.guilds
		s.call = s.call[:0]
		for place := part * MaxBatch; place < min((part+1)*MaxBatch, s.membersOf(guild)); place++ {
			s.call = append(s.call, spoken{member: guild + place*s.guilds, data: dataKnown})
		}
		if len(s.call) > 0 {
			s.body = appendCall(s.body[:0], s.call)
			return appendMessagesRequest(b, s.shared, guild, s.body), true
		}
	}
}

func (*fillMessagesStep) settle(a answer) bool { return a.status == http.StatusOK }
