package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/importer"
)

// sourceWait bounds a single wait that the other service may ask for.
const sourceWait = 10 * time.Minute

// maxPasses bounds how often all pages are read.
const maxPasses = 5

// source is the board of another service, read page by page.
type source struct {
	page     string // the address of a page, without its number
	key      string
	wait     time.Duration // before the next page
	seen     map[string]bool
	settings map[string]jsontext.Value // of the first page
	out      io.Writer
}

// source returns the board of the other service as one export file.
func (i *importing) source(ctx context.Context) io.ReadCloser {
	read, write := io.Pipe()
	s := &source{
		page: serviceBase(i.sourceURL) + "/v2/levels/" + url.PathEscape(i.sourceGuild) + "?page=", key: i.sourceKey,
		seen: make(map[string]bool), out: write,
	}
	go func() {
		complete, err := s.copy(ctx)
		if err != nil {
			err = &importer.FileError{File: i.sourceURL, Cause: err}
		} else if !complete {
			i.warn("New members appeared in the source each time it was read. Import again to get those who were missed.")
		}
		write.CloseWithError(err)
	}()
	return read
}

// copy writes the members before the settings, which may be long: the importer tells a file's kind by its first
// bytes. A member who gains XP, leaves or joins may push others to pages that were read already. So copy reads all
// pages again until a pass finds no new member, at most maxPasses times. complete says that the last pass found none.
func (s *source) copy(ctx context.Context) (complete bool, err error) {
	if _, err := io.WriteString(s.out, `{"levels":[`); err != nil {
		return false, err
	}
	for pass := 0; pass < maxPasses && !complete; pass++ {
		before := len(s.seen)
		if err := s.copyPages(ctx); err != nil {
			return false, err
		}
		complete = len(s.seen) == before
	}
	settings, err := json.Marshal(s.settings, json.Deterministic(true))
	if err != nil {
		return false, fmt.Errorf("read the source: %w", err)
	}
	text := "\n]"
	if len(s.settings) > 0 {
		text += ","
	}
	_, err = io.WriteString(s.out, text+string(settings[1:])+"\n")
	return complete, err
}

// copyPages reads all pages once, and copies the members that no earlier page had.
func (s *source) copyPages(ctx context.Context) error {
	var last []byte
	for n := 1; ; n++ {
		answer, err := s.get(ctx, n)
		if err != nil {
			return err
		}
		levels, err := read[[]jsontext.Value](answer["levels"])
		if err != nil {
			return err
		}
		if s.settings == nil {
			s.settings = maps.Clone(answer)
			delete(s.settings, "levels")
		}
		if len(levels) == 0 {
			return nil
		}
		if bytes.Equal(last, answer["levels"]) { // a service without pages would be read forever
			return fmt.Errorf("page %d of the source repeats page %d", n, n-1)
		}
		last = answer["levels"]
		if err := s.copyMembers(levels); err != nil {
			return err
		}
	}
}

func (s *source) copyMembers(levels []jsontext.Value) error {
	var text []byte
	for _, level := range levels {
		member, err := read[struct {
			UserID string `json:"userId"`
		}](level)
		if err != nil {
			return err
		}
		if s.seen[member.UserID] {
			continue
		}
		if len(s.seen) > 0 {
			text = append(text, ',')
		}
		s.seen[member.UserID] = true
		text = append(append(text, '\n'), level...)
	}
	_, err := s.out.Write(text)
	return err
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
		response, err := noRedirects.Do(request)
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

// waitFor returns how long the service asks to wait before the next request.
func waitFor(h http.Header) time.Duration {
	seconds, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	if err != nil {
		remaining, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
		if err != nil || remaining > 0 {
			return 0
		}
		// The budget fills steadily, so it has room for one request long before it is full.
		limit, _ := strconv.ParseFloat(h.Get("X-RateLimit-Limit"), 64)
		reset, _ := strconv.ParseFloat(h.Get("X-RateLimit-Reset"), 64)
		seconds = reset / max(limit, 1)
	}
	return min(max(time.Duration(seconds*float64(time.Second)), 0), sourceWait)
}
