package cli

import (
	"context"
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
)

// sourceWait bounds how long a service may have its reader wait in one go.
const sourceWait = 10 * time.Minute

// source is the board of another service, read page by page.
type source struct {
	client *http.Client
	page   string // the address of a page, but for its number
	key    string
	wait   time.Duration // before the next page
	seen   map[string]bool
	out    io.Writer
	begun  bool
}

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
	go func() { write.CloseWithError(s.copy(ctx)) }()
	return read, nil
}

func (s *source) copy(ctx context.Context) error {
	for n := 1; ; n++ {
		members, twice, err := s.copyPage(ctx, n)
		if err != nil {
			return err
		}
		if members == 0 {
			_, err := io.WriteString(s.out, "\n]}\n")
			return err
		}
		for again := n - 1; twice > 0 && again > 0; again-- {
			members, known, err := s.copyPage(ctx, again)
			if err != nil {
				return err
			}
			twice -= members - known
		}
	}
}

// copyPage copies the members of a page, and with the first one the settings. It returns how many there are, and how many were seen before.
func (s *source) copyPage(ctx context.Context, n int) (members, twice int, err error) {
	page, err := s.get(ctx, n)
	if err != nil {
		return 0, 0, err
	}
	levels, err := read[[]jsontext.Value](page["levels"])
	if err != nil {
		return 0, 0, err
	}
	delete(page, "levels")
	var text []byte
	if !s.begun {
		settings, err := json.Marshal(page, json.Deterministic(true))
		if err != nil {
			return 0, 0, fmt.Errorf("read the source: %w", err)
		}
		text = append(text, strings.TrimSuffix(string(settings), "}")...)
		if len(page) > 0 {
			text = append(text, ',')
		}
		text = append(text, "\"levels\":["...)
	}
	for _, level := range levels {
		member, err := read[struct {
			UserID string `json:"userId"`
		}](level)
		if err != nil {
			return 0, 0, err
		}
		if s.seen[member.UserID] {
			twice++
		}
		if s.seen[member.UserID] = true; s.begun {
			text = append(text, ',')
		}
		text, s.begun = append(append(text, '\n'), level...), true
	}
	_, err = s.out.Write(text)
	return len(levels), twice, err
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
			return nil, fmt.Errorf("the source cannot be reached: %w", err)
		}
		answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		_ = response.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("the source broke off: %w", err)
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
