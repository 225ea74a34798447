package loadgen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
)

const (
	// maxIncrement is small, so that a member stays away from the limit of XP, where an increment adds less than it says.
	maxIncrement = 10
	// pagesRead is how many of a board's pages are asked for, from the first.
	pagesRead = 100
	pageSize  = 100 // members of a page
)

var (
	increment = operation{"increment", true, func(b *bench, r *rand.Rand) step {
		return &incrementStep{bench: b, r: r, draw: b.Skew.drawer(r, b.Active)}
	}}
	readRank = operation{"rank", false, func(b *bench, r *rand.Rand) step {
		return &rankStep{b, b.Skew.drawer(r, b.Active)}
	}}
	readPage     = operation{"page", false, func(b *bench, r *rand.Rand) step { return newPageStep(b, r) }}
	pollPage     = operation{"poll", false, func(b *bench, r *rand.Rand) step { return pollStep{newPageStep(b, r), map[int]string{}} }}
	sendMessages = operation{MessagesScenario, true, func(b *bench, r *rand.Rand) step {
		return &messagesStep{bench: b, traffic: newTraffic(r, b.Members, b.Skew, b.Batch)}
	}}
)

// incrementStep increments random members' XP.
type incrementStep struct {
	*bench
	r      *rand.Rand
	draw   func() int
	member int
	amount int64
}

func (s *incrementStep) next() request {
	s.member, s.amount = s.draw(), 1+s.r.Int64N(maxIncrement)
	return request{method: http.MethodPatch, path: s.userPath(s.member), key: s.keyOf(s.member), body: fmt.Appendf(nil, `{"xp":{"increment":%d}}`, s.amount)}
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

// rankStep reads random members with their ranks.
type rankStep struct {
	*bench
	draw func() int
}

func (s *rankStep) next() request {
	member := s.draw()
	return request{method: http.MethodGet, path: s.userPath(member), key: s.keyOf(member)}
}

func (*rankStep) settle(a answer) bool { return a.status == http.StatusOK }

// pageStep reads random pages of the first guild, evenly drawn.
type pageStep struct {
	*bench
	r    *rand.Rand
	page int // the last one
}

func newPageStep(b *bench, r *rand.Rand) *pageStep { return &pageStep{bench: b, r: r} }

func (s *pageStep) next() request {
	s.page = s.Page
	if s.page == 0 {
		s.page = 1 + s.r.IntN(min(pagesRead, s.pagesOf(0)))
	}
	return request{method: http.MethodGet, path: s.pagePath(0, s.page), key: s.keyOf(0)}
}

func (*pageStep) settle(a answer) bool { return a.status == http.StatusOK }

// pollStep sends the ETag of a page that its connection has seen.
type pollStep struct {
	*pageStep
	etags map[int]string // by page
}

func (s pollStep) next() request {
	r := s.pageStep.next()
	r.etag = s.etags[s.page]
	return r
}

func (s pollStep) settle(a answer) bool {
	if a.status == http.StatusNotModified {
		return s.etags[s.page] != ""
	}
	if a.status == http.StatusOK {
		s.etags[s.page] = a.header.Get("Etag")
	}
	return a.status == http.StatusOK
}

// messagesStep sends calls of messages. If the run verifies, it enters what the answers say into the ledger.
type messagesStep struct {
	*bench
	traffic *traffic
	call    []spoken
	body    []byte
}

func (s *messagesStep) next() request {
	s.call = s.traffic.next(s.call[:0])
	s.body = appendCall(s.body[:0], s.call)
	return request{method: http.MethodPost, path: s.messagesPath(0), key: s.keyOf(0), body: s.body, keep: s.Verify}
}

func (s *messagesStep) settle(a answer) bool {
	if a.status == http.StatusOK && (!s.Verify || s.acknowledge(a.body)) {
		s.messages.Add(int64(len(s.call)))
		return true
	}
	if a.status == http.StatusOK || a.unknown() {
		for _, said := range s.call {
			s.ledger.doubt(said.member, maxGain)
		}
	}
	return false
}

// acknowledge reports false if the answer is not one result for each message, in order.
func (s *messagesStep) acknowledge(body []byte) bool {
	var said struct {
		Results []struct {
			UserID string
			Gained int64
		}
	}
	if json.Unmarshal(body, &said) != nil || len(said.Results) != len(s.call) {
		return false
	}
	for i, result := range said.Results {
		if result.UserID != userID(s.call[i].member) {
			return false
		}
	}
	for i, result := range said.Results {
		s.ledger.acknowledge(s.call[i].member, result.Gained)
	}
	return true
}
