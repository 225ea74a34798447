package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/importer"
)

// sourceWait bounds how long a service may have its reader wait in one go.
const sourceWait = 10 * time.Minute

// source is the board of another service, read page by page.
type source struct {
	client *http.Client
	page   string // the address of a page, except for its number
	key    string
	wait   time.Duration // before the next page
	seen   map[string]bool
	again  int // pages that were read again
	out    io.Writer
}

// maxAgain bounds the pages that are read again, beside ten for each page.
const maxAgain = 1000

var errMoving = errors.New("the members of the source move while they are read; import again when fewer do")

// source returns the board of the service as one export. A member who moves to a page that was read already moves others down, to the next page: so
// where a page has members that were seen before, the pages before it are read again for as many that were not. Who is there twice counts with the
// most XP, as in any file.
func (i *importing) source(ctx context.Context) (io.ReadCloser, error) {
	base := strings.TrimSuffix(strings.TrimRight(i.sourceURL, "/"), "/v2")
	read, write := io.Pipe()
	s := &source{
		client: newAdminClient("", "").http, page: base + "/v2/levels/" + url.PathEscape(i.sourceGuild) + "?page=", key: i.sourceKey,
		seen: make(map[string]bool), out: write,
	}
	go func() {
		err := s.copy(ctx)
		if err != nil {
			err = &importer.FileError{File: i.sourceURL, Cause: err}
		}
		write.CloseWithError(err)
	}()
	return read, nil
}

// copy writes the members and then the settings, which may be long: the reader recognises the members.
func (s *source) copy(ctx context.Context) error {
	if _, err := io.WriteString(s.out, `{"levels":[`); err != nil {
		return err
	}
	var settings []byte
	for n := 1; ; n++ {
		page, err := s.copyPage(ctx, n)
		if err != nil {
			return err
		}
		if n == 1 {
			settings = page.settings
		}
		if page.members == 0 {
			return s.end(settings)
		}
		if err := s.missed(ctx, n, page); err != nil {
			return err
		}
	}
}

func (s *source) end(settings []byte) error {
	text := "\n]"
	if len(settings) > len("{}") {
		text += ","
	}
	_, err := io.WriteString(s.out, text+string(settings[1:])+"\n")
	return err
}

// missed reads the pages before n for as many members as page n had twice.
func (s *source) missed(ctx context.Context, n int, page sourcePage) error {
	fresh, twice := page.members-page.twice, page.twice
	for before := n - 1; twice > 0 && before > 0; before-- {
		if s.again++; s.again > maxAgain+10*n {
			return errMoving
		}
		page, err := s.copyPage(ctx, before)
		if err != nil {
			return err
		}
		fresh, twice = fresh+page.members-page.twice, twice-(page.members-page.twice)
	}
	if fresh == 0 {
		return fmt.Errorf("page %d of the source repeats earlier members", n)
	}
	return nil
}

// sourcePage is what a page had.
type sourcePage struct {
	members, twice int    // twice were seen before
	settings       []byte // an object, of the first page
}

// copyPage copies the members of a page.
func (s *source) copyPage(ctx context.Context, n int) (page sourcePage, err error) {
	answer, err := s.get(ctx, n)
	if err != nil {
		return page, err
	}
	levels, err := read[[]jsontext.Value](answer["levels"])
	if err != nil {
		return page, err
	}
	delete(answer, "levels")
	if n == 1 {
		if page.settings, err = json.Marshal(answer, json.Deterministic(true)); err != nil {
			return page, fmt.Errorf("read the source: %w", err)
		}
	}
	var text []byte
	for _, level := range levels {
		member, err := read[struct {
			UserID string `json:"userId"`
		}](level)
		if err != nil {
			return page, err
		}
		if s.seen[member.UserID] {
			page.twice++
		}
		if len(s.seen) > 0 {
			text = append(text, ',')
		}
		s.seen[member.UserID] = true
		text = append(append(text, '\n'), level...)
	}
	page.members = len(levels)
	_, err = s.out.Write(text)
	return page, err
}

// get reads a page, as fast as the service's limits allow.
func (s *source) get(ctx context.Context, n int) (map[string]jsontext.Value, error) {
	for {
		if !pause.For(ctx, s.wait) {
			return nil, ctx.Err()
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.page+strconv.Itoa(n), nil)
		if err != nil {
			return nil, usage("--source-url is malformed")
		}
		if s.key != "" {
			request.Header.Set("X-Api-Key", s.key)
		}
		response, err := s.client.Do(request)
		if err != nil {
			return nil, fmt.Errorf("the source cannot be reached: %w", withoutAddress(err))
		}
		answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		_ = response.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("the source's answer was cut off: %w", err)
		}
		s.wait = waitFor(response.Header)
		switch {
		case response.StatusCode == http.StatusOK:
			return read[map[string]jsontext.Value](answer)
		case s.wait > 0 && (response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable):
			continue
		}
		failure, _ := read[struct {
			Message string `json:"message"`
		}](answer)
		return nil, fmt.Errorf("the source answered %s for page %d: %s", response.Status, n, printable(failure.Message))
	}
}

// waitFor is how long the service asks to wait before the next request.
func waitFor(h http.Header) time.Duration {
	seconds, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	if err != nil {
		remaining, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
		if err != nil || remaining > 0 {
			return 0
		}
		// A budget that fills steadily has room for one more long before it is full.
		limit, _ := strconv.ParseFloat(h.Get("X-RateLimit-Limit"), 64)
		reset, _ := strconv.ParseFloat(h.Get("X-RateLimit-Reset"), 64)
		seconds = reset / max(limit, 1)
	}
	return min(max(time.Duration(seconds*float64(time.Second)), 0), sourceWait)
}
