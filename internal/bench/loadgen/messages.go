package loadgen

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"
)

var sendMessages = operation{name: "messages", changes: true, start: func(s *shared, r *rand.Rand) step {
	step := &messagesStep{shared: s}
	if s.replay == nil {
		step.traffic = newTraffic(r, s.members, s.skew, s.batch)
	}
	return step
}}

// messagesStep sends calls of messages, its own or those of a recording, and keeps the ledger by what the answers say.
type messagesStep struct {
	*shared
	traffic *traffic // nil when a recording is replayed
	call    []spoken
	members []int // the authors, in the order of the messages
	body    []byte
	result  outcome
	crowd   distinct
}

func (s *messagesStep) next(b []byte) ([]byte, bool) {
	s.members = s.members[:0]
	if s.traffic != nil {
		s.call = s.traffic.next(s.call[:0])
		s.body = appendCall(s.body[:0], s.call)
		for i := range s.call {
			s.members = append(s.members, s.call[i].member)
		}
	} else {
		var more bool
		if s.body, more = s.replay.next(s.body[:0]); !more {
			return b, false
		}
		s.members = appendAuthors(s.members, s.body, s.shared.members)
	}
	return appendMessagesRequest(b, s.shared, 0, s.body), true
}

func (s *messagesStep) settle(a answer) bool {
	switch {
	case a.status == http.StatusOK:
		if s.result.read(a.body, s.members, s.shared.members) {
			s.spoken.add(&s.result, s.crowd.count(s.members))
			for i, gained := range s.result.gained {
				if gained > 0 {
					s.ledger.acknowledge(s.members[i], gained)
				}
			}
			return true
		}
		fallthrough // what was done is not known
	case a.unknown():
		for _, member := range s.members {
			s.ledger.doubt(member, maxGain)
		}
	}
	return false
}

func (*messagesStep) readsBody() {}

func appendMessagesRequest(b []byte, s *shared, guild int, body []byte) []byte {
	b = append(b, "POST "...)
	b = append(b, s.guildsPath...)
	b = s.appendGuild(b, guild)
	b = append(b, "/messages"...)
	b = append(b, s.headersOf(guild)...)
	b = appendBodyHeaders(b, len(body))
	return append(b, body...)
}

// Messages is what became of the messages in calls that ended as they should.
type Messages struct {
	Batch     Batch   `json:"batch"`
	Messages  int64   `json:"messages"`
	PerSecond float64 `json:"perSecond"`
	PerCall   float64 `json:"perCall"`
	Authors   float64 `json:"authorsPerCall"` // the different members of a call, in the mean
	Gaining   int64   `json:"gaining"`        // messages that gave XP
	Gained    int64   `json:"gainedXp"`
	LevelUps  int64   `json:"levelUps"`
}

func (m Messages) sentence() string {
	return fmt.Sprintf("Messages: %s a second, %s in all, %.1f in a call (batch %s) by %.1f members. %s of them gave XP, %s XP in all, and %s level-ups.",
		grouped(int64(m.PerSecond+0.5)), grouped(m.Messages), m.PerCall, m.Batch, m.Authors, grouped(m.Gaining), grouped(m.Gained), grouped(m.LevelUps))
}

// messageCounts are what became of the messages, over all connections.
type messageCounts struct {
	messages, authors, gaining, gained, levelUps atomic.Int64
}

func (c *messageCounts) add(o *outcome, authors int) {
	c.messages.Add(int64(len(o.gained)))
	c.authors.Add(int64(authors))
	c.gaining.Add(o.gaining)
	c.gained.Add(o.sum)
	c.levelUps.Add(o.levelUps)
}

func (c *messageCounts) report(batch Batch, calls int64, took time.Duration) *Messages {
	m := &Messages{
		Batch: batch, Messages: c.messages.Load(), Gaining: c.gaining.Load(), Gained: c.gained.Load(), LevelUps: c.levelUps.Load(),
	}
	m.PerSecond = float64(m.Messages) / took.Seconds()
	if calls > 0 {
		m.PerCall, m.Authors = float64(m.Messages)/float64(calls), float64(c.authors.Load())/float64(calls)
	}
	return m
}

// distinct counts the different members of a call, of at most MaxBatch messages, without memory of its own for each member.
type distinct struct {
	slots [2048]struct{ round, member uint32 }
	round uint32
}

func (d *distinct) count(members []int) (n int) {
	d.round++
	for _, member := range members {
		at := uint32(member) * 0x9E3779B9 >> 21
		for d.slots[at].round == d.round && d.slots[at].member != uint32(member) {
			at = (at + 1) % uint32(len(d.slots))
		}
		if d.slots[at].round != d.round {
			d.slots[at].round, d.slots[at].member = d.round, uint32(member)
			n++
		}
	}
	return n
}
