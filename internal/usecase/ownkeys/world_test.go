package ownkeys_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/ownkeys"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	guild1   id.Guild = "100000000000000001"
	guild2   id.Guild = "100000000000000002"
	nowhere  id.Guild = "100000000000000009"
	userID   id.User  = "200000000000000001"
	stranger id.User  = "200000000000000002"
)

var (
	errBroken = errors.New("broken on demand")
	noon      = time.Date(2026, 1, 2, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	user      = ownkeys.User{ID: userID, Guilds: []id.Guild{guild1, nowhere}}
)

// world is the use cases on a real archive, with the keys as two replicas know them: this one, where changes are
// announced, and another, which follows the log of changes.
type world struct {
	*testing.T
	*ownkeys.Profile
	archive     *storetest.FaultyArchive
	here, there *apikey.Cache
	follower    *changes.Follower // of the other replica
	meter       *apikey.Meter

	mu  sync.Mutex
	now time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	archive := storetest.SQLite(t)
	storetest.PutGuild(t, archive, guild1)
	storetest.PutGuild(t, archive, guild2)
	w := &world{T: t, archive: storetest.NewFaultyArchive(archive), now: noon}
	log := slog.New(slog.DiscardHandler)
	w.meter = apikey.NewMeter(w.archive, w.clock, log)
	w.here = apikey.NewCache(w.archive, 100, w.clock, w.meter)
	w.there = apikey.NewCache(w.archive, 100, w.clock, nil)
	w.follower = changes.NewFollower(w.archive, nil, time.Second, log, func(c changes.Change) {
		if c.Kind == changes.Key {
			w.there.Changed(c.Subject)
		}
	}, w.there.ForgetAll)
	if err := w.follower.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Profile = ownkeys.New(w.archive, w, w.clock)
	return w
}

// Announce does here what the service does.
func (w *world) Announce(_ context.Context, kind changes.Kind, subject string) {
	if kind == changes.Key {
		w.here.Changed(subject)
	}
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) refused(what string, err error, want fault.Code) {
	w.Helper()
	if !fault.Is(err, want) {
		w.Errorf("%s: %v, want a fault of code %d", what, err, want)
	}
}

// create makes a read/write key for a month, with these grants.
func (w *world) create(guilds ...id.Guild) (secret string, k ownkeys.Key) {
	w.Helper()
	secret, k, err := w.Create(w.Context(), user, newKey(guilds...))
	w.must(err)
	return secret, k
}

func newKey(guilds ...id.Guild) ownkeys.NewKey {
	return ownkeys.NewKey{Name: "bot", Permission: apikey.ReadWrite, Lifetime: ownkeys.ThirtyDays, Guilds: guilds}
}

// only is the one key of the list.
func (w *world) only() ownkeys.Key {
	w.Helper()
	list, err := w.Keys(w.Context(), userID)
	if err != nil || len(list) != 1 {
		w.Fatalf("%d keys, %v; want one", len(list), err)
	}
	return list[0]
}

// works says whether the secret opens the guild, and that both replicas agree.
func (w *world) works(secret string, g id.Guild) bool {
	w.Helper()
	w.must(w.follower.CatchUp(w.Context()))
	var answers []bool
	for _, keys := range []*apikey.Cache{w.here, w.there} {
		k, err := keys.Authenticate(w.Context(), secret)
		if err != nil && !fault.Is(err, fault.Unauthenticated) {
			w.Fatal(err)
		}
		answers = append(answers, err == nil && k.Granted(g))
	}
	if answers[0] != answers[1] {
		w.Errorf("the replicas disagree: %v", answers)
	}
	return answers[0]
}

func (w *world) wantWorks(what, secret string, g id.Guild, want bool) {
	w.Helper()
	if got := w.works(secret, g); got != want {
		w.Errorf("%s: access is %t, want %t", what, got, want)
	}
}
