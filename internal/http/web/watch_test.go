package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// rowsBody is what the stream sends to the board's script.
type rowsBody struct {
	Page, Last, Total int64
	Order, Rows       []string
	Period            string
	Gained            int64
}

// watcher is a browser with an open page.
type watcher struct {
	t      *testing.T
	got    chan rowsBody // closed when the stream ends
	alive  chan struct{} // one after a sign of life
	leaves context.CancelFunc
}

// open opens a stream, until the test ends or leave is called.
func (b *browser) open(path, from string) (answer *http.Response, leave context.CancelFunc) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	b.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.site.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if from != "" {
		r.Header.Set("X-Forwarded-For", from) // trusted in these tests
	}
	if answer, err = b.Do(r); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = answer.Body.Close() })
	return answer, cancel
}

func (b *browser) watch(path string) *watcher {
	b.t.Helper()
	answer, cancel := b.open(path, "")
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" || answer.Header.Get("Cache-Control") != "no-store" ||
		answer.Header.Get("Content-Security-Policy") != policy {
		b.t.Fatalf("opening the stream: %d %v", answer.StatusCode, answer.Header)
	}
	w := &watcher{t: b.t, got: make(chan rowsBody, 1000), alive: make(chan struct{}, 1), leaves: cancel}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(w.got)
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if lines.Text() == "event: here" {
				select {
				case w.alive <- struct{}{}:
				default:
				}
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var body rowsBody
				if err := json.Unmarshal([]byte(data), &body); err != nil {
					b.t.Error(err)
				}
				w.got <- body
			}
		}
	}()
	b.t.Cleanup(func() { cancel(); <-ended })
	return w
}

// until takes bodies until one is wanted.
func (w *watcher) until(wanted func(rowsBody) bool) rowsBody {
	w.t.Helper()
	for {
		body, open := testenv.Receive(w.t, w.got, "what is wanted comes on the stream")
		if !open {
			w.t.Fatal("the stream ended, want another body")
		}
		if wanted(body) {
			return body
		}
	}
}

// ends waits until the stream ends.
func (w *watcher) ends() {
	w.t.Helper()
	for open := true; open; {
		_, open = testenv.Receive(w.t, w.got, "the stream ends")
	}
}

func any100(b rowsBody) bool { return len(b.Order) == 100 }

func TestAnOpenPageGetsMovedRows(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(150))
	w := s.browser().watch("/leaderboard/gophers/live?page=1")
	first := w.until(any100)
	if len(first.Rows) != 100 || first.Total != 150 || first.Last != 2 || first.Page != 1 || first.Order[0] != "m"+string(memberID(0)) {
		t.Fatalf("the stream begins with %d rows of %d and %v, want the first 100 of 150", len(first.Rows), first.Total, first.Order[:3])
	}
	s.setXP(99, 9_000_000)
	next := w.until(func(b rowsBody) bool { return b.Order[0] == "m"+string(memberID(99)) })
	if !strings.Contains(strings.Join(next.Rows, ""), "9,000,000 XP") || !strings.Contains(next.Rows[0], "rank--gold") {
		t.Errorf("the changed rows are %q, want 9,000,000 XP in gold", next.Rows)
	}
	// Only changed rows are sent: the new first ones, not those that were passed.
	s.setXP(99, 9_000_001)
	if again := w.until(func(rowsBody) bool { return true }); len(again.Rows) != 1 || len(again.Order) != 100 {
		t.Errorf("%d rows were sent for a change of one", len(again.Rows))
	}
	// A member of another page moves onto this one.
	s.setXP(140, 9_500_000)
	in := w.until(func(b rowsBody) bool { return b.Order[0] == "m"+string(memberID(140)) })
	if slices.Contains(in.Order, "m"+string(memberID(98))) {
		t.Error("the member who was last is still on the page")
	}
}

func TestWatchersAreBounded(t *testing.T) {
	s := newSite(t, options{watchers: 3})
	s.fill(members(3))
	for n := range 3 {
		if answer, _ := s.browser().open("/leaderboard/gophers/live", fmt.Sprintf("192.0.2.%d", n)); answer.StatusCode != 200 {
			t.Fatalf("stream %d is %d, want 200", n+1, answer.StatusCode)
		}
	}
	if got := s.browser().get("/leaderboard/gophers/live").want(503); got.header.Get("Retry-After") == "" {
		t.Error("the refusal of one stream too many has no Retry-After")
	}
	// The rows themselves can still be read.
	s.browser().get("/leaderboard/gophers/rows").want(200, `"total":3`)
}

func TestAStreamEndsWithTheRightToRead(t *testing.T) {
	member := func(s *site) { // ada is a member of the private guild
		s.provider.SetUser(map[string]any{"id": ada, "username": "ada", "global_name": "Ada L."}, []any{map[string]any{"id": string(closed), "name": "Moles", "permissions": "0"}})
	}
	for name, ends := range map[string]func(s *site, b *browser){
		"signed out":    func(_ *site, b *browser) { b.still().post("/sign-out", nil).want(303) },
		"switched off":  func(s *site, _ *browser) { s.guilds.change(closed, func(g *guild.Guild) { g.Enabled = false }) },
		"created again": func(s *site, _ *browser) { s.guilds.change(closed, func(g *guild.Guild) { g.Incarnation++ }) },
		"deleted":       func(s *site, _ *browser) { s.guilds.change(closed, nil) },
	} {
		for _, when := range []string{"at a push", "at a sign of life"} {
			t.Run(name+" "+when, func(t *testing.T) {
				o := options{keepAlive: time.Hour}
				if when == "at a sign of life" {
					o.keepAlive = 10 * time.Millisecond
				}
				s := newSite(t, o)
				member(s)
				old := s.guilds.get(closed)
				b := s.browser()
				b.get("/sign-in/provider?next=/").want(200, "Ada L.")
				w := b.watch("/leaderboard/" + string(closed) + "/live")
				w.until(func(rowsBody) bool { return true })
				ends(s, b)
				if o.keepAlive == time.Hour {
					if _, err := s.board.Create(t.Context(), old, memberID(1), leaderboard.Creation{XP: 77}); err != nil {
						t.Fatal(err)
					}
				}
				w.ends()
				for body := range w.got {
					if len(body.Order) > 0 {
						t.Error("the stream sent a change after the right to read ended")
					}
				}
			})
		}
	}
}

func TestNewSettingsShowAtTheNextSignOfLife(t *testing.T) {
	s := newSite(t, options{keepAlive: 10 * time.Millisecond})
	s.fill(members(1))
	w := s.browser().watch("/leaderboard/gophers/live")
	w.until(func(rowsBody) bool { return true })
	testenv.Receive(t, w.alive, "a sign of life")
	s.guilds.change(public, func(g *guild.Guild) {
		curve, _ := level.Preset("amari")
		g.Curve, g.Version = curve, g.Version+1
	})
	if body := w.until(func(rowsBody) bool { return true }); len(body.Rows) != 1 {
		t.Errorf("%d rows were sent after a change of settings, want 1", len(body.Rows))
	}
}

func TestAClosedFeedEndsItsStreams(t *testing.T) {
	s := newSite(t, options{})
	w := s.browser().watch("/leaderboard/gophers/live")
	w.until(func(rowsBody) bool { return true })
	s.feed.Close()
	w.ends()
	s.browser().get("/leaderboard/gophers/live").want(503)
}

// One address cannot use all streams. An IPv6 network counts as one address.
func TestStreamsOfAnAddressAreBounded(t *testing.T) {
	const most = 20
	s := newSite(t, options{})
	s.fill(members(3))
	b := s.browser()
	var leaves []func()
	for n := range most {
		answer, leave := b.open("/leaderboard/gophers/live", fmt.Sprintf("2001:db8::%x", n+1))
		if answer.StatusCode != 200 {
			t.Fatalf("stream %d is %d, want 200", n+1, answer.StatusCode)
		}
		leaves = append(leaves, leave)
	}
	if answer, _ := b.open("/leaderboard/gophers/live", "2001:db8::ffff"); answer.StatusCode != 429 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("one stream too many is %d %v, want 429 with Retry-After", answer.StatusCode, answer.Header)
	}
	// The address can still read the rows, and other addresses can open streams.
	b.get("/leaderboard/gophers/rows", "X-Forwarded-For", "2001:db8::ffff").want(200, `"total":3`)
	for _, from := range []string{"2001:db8:0:1::1", "192.0.2.1"} {
		if answer, _ := b.open("/leaderboard/gophers/live", from); answer.StatusCode != 200 {
			t.Errorf("a stream from %s is %d, want 200", from, answer.StatusCode)
		}
	}
	leaves[0]()
	testenv.Wait(t, "the place of one who left is free", func() bool {
		answer, _ := b.open("/leaderboard/gophers/live", "2001:db8::1")
		return answer.StatusCode == 200
	})
}

func TestAPagePastTheEndShowsTheLast(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(150))
	last := s.browser().watch("/leaderboard/gophers/live?page=999")
	if got := last.until(func(rowsBody) bool { return true }); got.Page != 2 || len(got.Order) != 50 {
		t.Errorf("past the end the stream sends page %d with %d members, want page 2 with 50", got.Page, len(got.Order))
	}
}
