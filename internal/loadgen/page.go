package loadgen

import (
	"math/rand/v2"
	"net/http"
	"strconv"
)

const (
	// pagesRead is how many of a board's pages are asked for, from the first.
	pagesRead = 100
	// pageSize is how many members a page has.
	pageSize = 100
)

var (
	readPage = operation{name: "page", start: func(s *shared, r *rand.Rand) step { return newPageStep(s, r, false) }}
	pollPage = operation{name: "poll", start: func(s *shared, r *rand.Rand) step { return newPageStep(s, r, true) }}
)

// pageStep reads random pages, evenly drawn, whatever the members' skew.
type pageStep struct {
	*shared
	r     *rand.Rand
	page  int      // from 0
	etags [][]byte // of each page as this connection saw it last; nil when it is not to be sent
	pages int
}

func newPageStep(s *shared, r *rand.Rand, poll bool) *pageStep {
	step := &pageStep{shared: s, r: r, pages: min(pagesRead, (s.members+pageSize-1)/pageSize)}
	if poll {
		step.etags = make([][]byte, step.pages)
	}
	return step
}

func (s *pageStep) next(b []byte) ([]byte, bool) {
	s.page = s.r.IntN(s.pages)
	b = append(b, "GET "...)
	b = append(b, s.guildPath...)
	b = append(b, "?page="...)
	b = strconv.AppendInt(b, int64(s.page+1), 10)
	b = append(b, s.headers...)
	if s.conditional() {
		b = append(b, "If-None-Match: "...)
		b = append(b, s.etags[s.page]...)
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...), true
}

// conditional says that the page was seen before and is asked for only if it changed.
func (s *pageStep) conditional() bool { return s.etags != nil && len(s.etags[s.page]) > 0 }

func (s *pageStep) settle(a answer) bool {
	if a.status == http.StatusNotModified {
		return s.conditional()
	}
	if a.status != http.StatusOK {
		return false
	}
	if s.etags != nil {
		s.etags[s.page] = append(s.etags[s.page][:0], a.etag...)
	}
	return true
}
