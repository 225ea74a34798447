package changes_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"levelboard/internal/platform/changes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const interval = 500 * time.Millisecond

// archive is a log in memory that can lose entries, go back, fail and be slow.
type archive struct {
	mu      sync.Mutex
	entries []changes.Change
	latest  int64
	down    error
	hold    chan struct{} // if set, reads wait until it is closed
	onEmpty func()        // called once, unlocked, after an empty read
	reads   int
}

func (a *archive) Changes(ctx context.Context, after int64, limit int) ([]changes.Change, error) {
	a.mu.Lock()
	hold := a.hold
	a.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	a.mu.Lock()
	a.reads++
	var found []changes.Change
	for _, c := range a.entries {
		if c.Version > after && len(found) < limit {
			found = append(found, c)
		}
	}
	onEmpty, down := a.onEmpty, a.down
	if len(found) == 0 {
		a.onEmpty = nil
	}
	a.mu.Unlock()
	if len(found) == 0 && onEmpty != nil {
		onEmpty()
	}
	return found, down
}

func (a *archive) LatestChange(context.Context) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.latest, a.down
}

func (a *archive) commit(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range n {
		a.latest++
		a.entries = append(a.entries, changes.Change{Version: a.latest, Kind: changes.Key, Subject: fmt.Sprint(a.latest)})
	}
}

// purge removes the entries up to a version, as an archive does.
func (a *archive) purge(upTo int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.entries = slices.DeleteFunc(a.entries, func(c changes.Change) bool { return c.Version <= upTo })
}

func (a *archive) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// told records a Follower's reports: the versions of changes, and gap for onGap.
type told struct {
	mu   sync.Mutex
	list []int64
}

const gap = -1

func (r *told) add(v int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, v)
}

// since returns the reports since the last call.
func (r *told) since() []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

func (r *told) expect(t *testing.T, when string, want ...int64) {
	t.Helper()
	if got := r.since(); !slices.Equal(got, want) {
		t.Fatalf("%s: %v was reported, want %v (%d is a gap)", when, got, want, gap)
	}
}

type setup struct {
	log      *archive
	told     *told
	lines    *bytes.Buffer
	nudges   chan struct{}
	follower *changes.Follower
}

// started returns a Follower of an archive with some entries, which it must not report.
func started(t *testing.T) *setup {
	t.Helper()
	s := &setup{log: &archive{}, told: &told{}, lines: &bytes.Buffer{}, nudges: make(chan struct{}, 1)}
	s.log.commit(3)
	s.follower = changes.NewFollower(s.log, s.nudges, interval, slog.New(slog.NewTextHandler(s.lines, nil)),
		func(c changes.Change) { s.told.add(c.Version) }, func() { s.told.add(gap) })
	if err := s.follower.Start(t.Context()); err != nil {
		t.Fatalf("starting the follower: %v", err)
	}
	return s
}

func (s *setup) catchUp(t *testing.T) {
	t.Helper()
	if err := s.follower.CatchUp(t.Context()); err != nil {
		t.Fatalf("catching up: %v", err)
	}
}

// run runs the Follower until the test ends.
func (s *setup) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.follower.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}
