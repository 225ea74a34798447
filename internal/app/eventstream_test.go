package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// streamed is an event as a client gets it. A sign of life has only a comment, the start of a stream only an id.
type streamed struct{ id, name, data, comment string }

// follower is a client that follows a guild's events.
type follower struct {
	t      *testing.T
	got    chan streamed // closed when the stream ends
	cancel context.CancelFunc
	first  streamed // the first event
	last   string   // the last id, which a client resumes after
}

func eventsPath(g string) string { return "/v2/guilds/" + g + "/events" }

// follow opens a stream, after the event id after unless it is empty, and waits for the stream's start.
func (s *service) follow(key, g, after string) *follower {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.app.Addr()+eventsPath(g), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	transport := &http.Transport{}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		cancel()
		s.t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" ||
		resp.Header.Get("X-Accel-Buffering") != "no" || resp.Header.Get("X-RateLimit-Limit") == "" {
		s.t.Errorf("opening a stream: status %d, headers %v", resp.StatusCode, resp.Header)
	}
	f := &follower{t: s.t, got: make(chan streamed, 100_000), cancel: cancel}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(f.got)
		defer func() { _ = resp.Body.Close() }()
		var e streamed
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data = value
			case "":
				if lines.Text() != "" {
					e.comment = value
				} else if e != (streamed{}) {
					f.got <- e
					e = streamed{}
				}
			}
		}
	}()
	s.t.Cleanup(func() { cancel(); <-ended; transport.CloseIdleConnections() })
	f.first = f.take()
	return f
}

// take returns the next event and skips signs of life.
func (f *follower) take() streamed {
	f.t.Helper()
	for {
		e, open := testenv.Receive(f.t, f.got, "something comes on the stream")
		if !open {
			f.t.Fatal("the stream ended, want another event")
		}
		if e.comment != "" {
			continue
		}
		if e.id != "" {
			f.last = e.id
		}
		return e
	}
}

// levelUp is the data of a level-up event.
type levelUp struct {
	UserID                   string
	Level, PreviousLevel, XP int
	AddRoles, RemoveRoles    []string
}

func (f *follower) levelUp() levelUp {
	f.t.Helper()
	e := f.take()
	var up levelUp
	if err := json.Unmarshal([]byte(e.data), &up); err != nil || e.name != "levelup" || e.id == "" {
		f.t.Fatalf("%+v came, want a level-up with an id", e)
	}
	return up
}

// ends waits until the stream ends and returns the events that came before.
func (f *follower) ends() (before []streamed) {
	f.t.Helper()
	for {
		e, open := testenv.Receive(f.t, f.got, "the stream ends")
		if !open {
			return before
		}
		if e.comment == "" {
			before = append(before, e)
		}
	}
}

// bare sends a request for a stream that the service must refuse.
func (s *service) bare(key, g string, options ...apitest.Option) apitest.Response {
	s.t.Helper()
	return s.bad("GET", eventsPath(g), key, nil, options...)
}
