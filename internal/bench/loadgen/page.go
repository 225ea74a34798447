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

// pageStep reads random pages of the first guild, evenly drawn, whatever the members' skew.
type pageStep struct {
	*shared
	r     *rand.Rand
	first int      // from 0, of those that are asked for
	pages int      // how many are
	page  int      // the last one, from 0
	etags [][]byte // of each page as this connection saw it last; nil when it is not to be sent
}

func newPageStep(s *shared, r *rand.Rand, poll bool) *pageStep {
	step := &pageStep{shared: s, r: r, pages: min(pagesRead, (s.membersOf(0)+pageSize-1)/pageSize)}
	if s.page > 0 {
		step.first, step.pages = s.page-1, 1
	}
	if poll {
		step.etags = make([][]byte, step.pages)
	}
	return step
}

func (s *pageStep) next(b []byte) ([]byte, bool) {
	s.page = s.first + s.r.IntN(s.pages)
	b = append(b, "GET "...)
	b = append(b, s.levelsPath...)
	b = append(s.appendGuild(b, 0), "?page="...)
	b = strconv.AppendInt(b, int64(s.page+1), 10)
	b = append(b, s.headers[0]...)
	if !s.plain {
		b = append(b, "Accept-Encoding: gzip\r\n"...) // as browsers and most libraries do
	}
	if s.conditional() {
		b = append(b, "If-None-Match: "...)
		b = append(b, *s.etag()...)
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...), true
}

// etag is where the last page's is kept.
func (s *pageStep) etag() *[]byte { return &s.etags[s.page-s.first] }

// conditional says that the page was seen before and is asked for only if it changed.
func (s *pageStep) conditional() bool { return s.etags != nil && len(*s.etag()) > 0 }

func (s *pageStep) settle(a answer) bool {
	if a.status == http.StatusNotModified {
		return s.conditional()
	}
	if a.status != http.StatusOK {
		return false
	}
	if s.etags != nil {
		seen := s.etag()
		*seen = append((*seen)[:0], a.etag...)
	}
	return true
}
