package announce

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/platform/outbound"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	gid  id.Guild = "100000000000000001"
	user id.User  = "200000000000000001"
)

// world is both stores, the settings of guilds, and the lease.
type world struct {
	t  *testing.T
	mu sync.Mutex

	guilds    map[id.Guild]*guild.Guild
	logs      map[id.Guild][]events.Entry
	eventful  map[id.Guild]bool
	states    map[Key]State
	notes     int
	away      error // of the archive
	liveAway  error
	noteFails error  // in place of the next note, once
	stateRead func() // is called, once, after states were read
	gone      map[id.User]bool
	fence     int64
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, guilds: map[id.Guild]*guild.Guild{}, logs: map[id.Guild][]events.Entry{}, eventful: map[id.Guild]bool{}, states: map[Key]State{},
		gone: map[id.User]bool{}, fence: 1,
	}
}

// announces gives a guild announcements; each begins now.
func (w *world) announces(g id.Guild, list ...announcement.Announcement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := &guild.Guild{Settings: guild.Settings{ID: g, Name: "Gophers", OwnerID: "900000000000000001", Announcements: list}, Incarnation: 1}
	w.guilds[g] = found
	for _, a := range list {
		k := Key{g, a.ID}
		w.states[k] = State{Key: k, Kind: a.Kind, Incarnation: 1, Version: 1, Cursor: events.ID{Millis: uint64(time.Now().UnixMilli()) - 1}, Secret: []byte("secret")}
	}
}

// happens adds an entry to a guild's log.
func (w *world) happens(g id.Guild, e events.Entry) events.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.ID.Millis == 0 {
		e.ID = events.ID{Millis: uint64(time.Now().UnixMilli())}
	}
	for _, other := range w.logs[g] {
		if other.ID.Compare(e.ID) >= 0 {
			e.ID = events.ID{Millis: other.ID.Millis, Number: other.ID.Number + 1}
		}
	}
	w.logs[g] = append(w.logs[g], e)
	w.eventful[g] = true
	return e.ID
}

// xpOf is the XP at which a level begins.
func xpOf(l level.Level) level.XP { return level.Curve{}.XPFor(l) }

// raised is a change of the member's level.
func raised(from, to level.Level) events.Entry {
	return events.Entry{User: user, Before: xpOf(from), After: xpOf(to)}
}

// levelUp raises the member from the level before to a level.
func (w *world) levelUp(g id.Guild, l level.Level) events.ID { return w.happens(g, raised(l-1, l)) }

func (w *world) state(k Key) State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.states[k]
}

func (w *world) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *world) AnnouncementStates(_ context.Context, guilds []id.Guild) (list []State, err error) {
	w.mu.Lock()
	for k, s := range w.states {
		if slices.Contains(guilds, k.Guild) {
			list = append(list, s)
		}
	}
	read, err := w.stateRead, w.away
	w.stateRead = nil
	w.mu.Unlock()
	if read != nil {
		read()
	}
	return list, err
}

func (w *world) AnnouncementsOn(_ context.Context, after Key, limit int) (list []State, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, s := range w.states {
		if s.Off == "" && string(k.Guild)+k.ID > string(after.Guild)+after.ID {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b State) int { return strings.Compare(string(a.Guild)+a.ID, string(b.Guild)+b.ID) })
	return list[:min(limit, len(list))], w.away
}

func (w *world) NoteAnnouncement(_ context.Context, l lease.Lease, s State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.states[s.Key]
	err := w.noteFails
	w.noteFails = nil
	switch {
	case err != nil:
		return err
	case w.away != nil:
		return w.away
	case l.Fence != w.fence:
		return lease.ErrLost
	case now.Version != s.Version || now.Off != "":
		return ErrUnknown
	}
	w.notes++
	w.states[s.Key] = s
	return nil
}

func (w *world) NoteBoardMessage(_ context.Context, s State) error {
	w.set(func() { w.states[s.Key] = s })
	return nil
}

func (w *world) SetAnnouncementSecret(_ context.Context, k Key, secret []byte) error {
	w.set(func() { s := w.states[k]; s.Secret = secret; w.states[k] = s })
	return nil
}

func (w *world) SwitchAnnouncementOn(_ context.Context, k Key) error {
	w.set(func() {
		s := w.states[k]
		s.Off, s.Version, s.Cursor = "", s.Version+1, events.ID{Millis: uint64(time.Now().UnixMilli()) - 1}
		w.states[k] = s
	})
	return nil
}

func (w *world) ReadEvents(_ context.Context, from []events.Cursor, limit int64) ([][]events.Entry, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	read := make([][]events.Entry, len(from))
	for i, c := range from {
		for _, e := range w.logs[c.Guild.ID] {
			if e.ID.Compare(c.After) > 0 && int64(len(read[i])) < limit && w.liveAway == nil {
				read[i] = append(read[i], e)
			}
		}
	}
	return read, w.liveAway
}

func (w *world) TakeEventful(context.Context) (guilds []id.Guild, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.liveAway != nil {
		return nil, w.liveAway
	}
	for g := range w.eventful {
		guilds = append(guilds, g)
	}
	clear(w.eventful)
	return guilds, nil
}

func (w *world) guild(_ context.Context, g id.Guild) (*guild.Guild, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if found := w.guilds[g]; found != nil {
		return found, nil
	}
	return nil, errors.New("no such guild")
}

func (w *world) View(_ context.Context, _ *guild.Guild, look leaderboard.Look) (v leaderboard.View, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range look.Users {
		if !w.gone[u] {
			v.Members = append(v.Members, leaderboard.Ranked{Rank: 3, Member: leaderboard.Member{UserID: u, User: leaderboard.User{Username: "ada"}}})
		}
	}
	if look.Page > 0 && !w.gone[user] {
		v.Number, v.Rows = 1, []leaderboard.Ranked{{Rank: 1, Member: leaderboard.Member{UserID: user, XP: xpOf(2), User: leaderboard.User{Username: "a_d_a"}}}}
	}
	return v, w.liveAway
}

func (w *world) Standings(context.Context, *guild.Guild, period.Period, int64, int64) (leaderboard.Standings, error) {
	return leaderboard.Standings{}, nil
}

// every is how often the tests' replicas look, and their first wait between two tries.
const every = 50 * time.Millisecond

// run starts a replica and returns a function that kills it. It posts what it can.
func (w *world) run(fence int64, trust *tls.Config) (a *Announcer, kill func()) {
	hosts, _ := outbound.ParseHosts([]string{"127.0.0.1"})
	a = New(Deps{
		Archive: w, Live: w, ByID: w.guild, Board: w, Hosts: hosts, Trust: trust, Log: slog.New(slog.DiscardHandler),
		Lease: func() (lease.Lease, bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return lease.Lease{Holder: "x", Fence: fence}, fence == w.fence
		},
	})
	a.every = every
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { a.Run(ctx) })
	kill = func() { cancel(); running.Wait() }
	w.t.Cleanup(kill)
	return a, kill
}

// wait waits for a condition.
func (w *world) wait(what string, met func() bool) {
	w.t.Helper()
	for end := time.Now().Add(60 * time.Second); !met(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s: not within a minute; state %+v", what, w.states)
		}
	}
}

// target is a webhook on a real server.
type target struct {
	url   string
	trust *tls.Config

	mu     sync.Mutex
	got    []call
	answer func(n int, w http.ResponseWriter, r *http.Request) // of the nth call, from 1; nil is 204
}

type call struct {
	method, path string
	header       http.Header
	body         string
	at           time.Time
}

func newTarget(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *target {
	o := &target{answer: answer}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o.mu.Lock()
		o.got = append(o.got, call{r.Method, r.URL.RequestURI(), r.Header.Clone(), string(body), time.Now()})
		n, answer := len(o.got), o.answer
		o.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(n, w, r)
	}))
	t.Cleanup(s.Close)
	o.url = s.URL + "/hook/topsecret"
	o.trust = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	return o
}

// calls are what it got, and contents the texts of its messages.
func (o *target) calls() []call {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.got)
}

func (o *target) contents() (texts []string) {
	for _, c := range o.calls() {
		var body struct {
			Content string `json:"content"`
		}
		_ = json.Unmarshal([]byte(c.body), &body)
		texts = append(texts, body.Content)
	}
	return texts
}

// hook is an announcement to a target, whose text is the level.
func hook(n int, kind announcement.Kind, url string) announcement.Announcement {
	a := announcement.Announcement{ID: fmt.Sprintf("hook-%d", n), Name: "general", Kind: kind, URL: announcement.Secret(url)}
	a.SetDefaults()
	if kind == announcement.Discord {
		text := "{level}"
		a.Text, a.Mention = &text, false
	}
	if kind == announcement.Board {
		a.Top, a.Events = 3, nil
	}
	return a
}
