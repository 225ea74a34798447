package changes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"levelboard/internal/platform/changes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const interval = 500 * time.Millisecond

// archive is a log in memory that can lose entries, go back, be down and be slow.
type archive struct {
	mu      sync.Mutex
	entries []changes.Change
	latest  int64
	down    error
	hold    chan struct{} // when set, a read waits until it is closed
	onEmpty func()        // called once, without the lock, after a read that found nothing
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

// purge forgets the entries up to a version, as an archive does with old ones.
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

// told is what a Follower called: the versions of changes, and gap for onGap.
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

// since returns what was told since the last call.
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
		t.Fatalf("%s: told %v, want %v (%d is a gap)", when, got, want, gap)
	}
}

type setup struct {
	log      *archive
	told     *told
	lines    *bytes.Buffer
	nudges   chan struct{}
	follower *changes.Follower
}

// started returns a Follower of an archive with some entries already, which it must not tell.
func started(t *testing.T) *setup {
	t.Helper()
	s := &setup{log: &archive{}, told: &told{}, lines: &bytes.Buffer{}, nudges: make(chan struct{}, 1)}
	s.log.commit(3)
	s.follower = changes.NewFollower(s.log, s.nudges, interval, slog.New(slog.NewTextHandler(s.lines, nil)),
		func(c changes.Change) { s.told.add(c.Version) }, func() { s.told.add(gap) })
	if err := s.follower.Start(t.Context()); err != nil {
		t.Fatalf("start: %v", err)
	}
	return s
}

func (s *setup) catchUp(t *testing.T) {
	t.Helper()
	if err := s.follower.CatchUp(t.Context()); err != nil {
		t.Fatalf("catch up: %v", err)
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

func TestEveryChangeIsToldOnceAndInOrder(t *testing.T) {
	s := started(t)
	s.catchUp(t)
	s.told.expect(t, "nothing new")
	s.log.commit(2)
	s.catchUp(t)
	s.told.expect(t, "two new ones", 4, 5)
	s.catchUp(t)
	s.told.expect(t, "nothing new again")

	s.log.commit(1234) // more than one read holds
	s.catchUp(t)
	got := s.told.since()
	if len(got) != 1234 || got[0] != 6 || got[1233] != 1239 || !slices.IsSorted(got) {
		t.Fatalf("told %d changes from %d to %d", len(got), got[0], got[len(got)-1])
	}
	s.log.commit(500) // exactly what one read holds
	s.catchUp(t)
	if got := s.told.since(); len(got) != 500 || got[499] != 1739 {
		t.Fatalf("told %d changes", len(got))
	}
}

func TestStartFailsWithoutTheArchive(t *testing.T) {
	down := errors.New("connection refused")
	f := changes.NewFollower(&archive{down: down}, nil, interval, slog.New(slog.DiscardHandler), nil, nil)
	if err := f.Start(t.Context()); !errors.Is(err, down) {
		t.Fatalf("started without an archive: %v", err)
	}
}

func TestRunLooksEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := started(t)
		s.run(t)
		s.log.commit(1)
		time.Sleep(interval - time.Nanosecond)
		s.told.expect(t, "before the interval is over")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		s.told.expect(t, "after one interval", 4)
		s.log.commit(1)
		time.Sleep(interval)
		synctest.Wait()
		s.told.expect(t, "after two intervals", 5)
	})
}

func TestANudgeIsFollowedAtOnceAndItsEndDoesNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := started(t)
		s.run(t)
		s.log.commit(1)
		s.nudges <- struct{}{}
		synctest.Wait()
		s.told.expect(t, "at once", 4)

		close(s.nudges)
		synctest.Wait()
		s.log.set(func() { s.log.reads = 0 })
		s.log.commit(1)
		time.Sleep(10 * interval)
		synctest.Wait()
		s.told.expect(t, "without nudges", 5)
		// A closed channel that was still read would have been a busy loop.
		s.log.set(func() {
			if s.log.reads > 12 {
				t.Errorf("looked %d times in ten intervals", s.log.reads)
			}
		})
	})
}

func TestEntriesThatWerePurgedAreAGap(t *testing.T) {
	s := started(t)
	s.log.commit(4) // 4 to 7
	s.log.purge(5)
	s.catchUp(t)
	s.told.expect(t, "the oldest unseen ones purged", gap, 6, 7)

	s.log.commit(3) // 8 to 10
	s.log.set(func() {
		s.log.entries = slices.DeleteFunc(s.log.entries, func(c changes.Change) bool { return c.Version == 9 })
	})
	s.catchUp(t)
	s.told.expect(t, "one in the middle missing", 8, gap, 10)

	s.log.commit(2)
	s.log.purge(12)
	s.catchUp(t)
	s.told.expect(t, "all unseen ones purged", gap)
	s.log.commit(1)
	s.catchUp(t)
	s.told.expect(t, "the next one", 13)
	s.log.purge(13)
	s.catchUp(t)
	s.told.expect(t, "only seen ones purged")
}

func TestAnArchiveThatWentBackIsAGap(t *testing.T) {
	s := started(t)
	s.log.commit(2)
	s.catchUp(t)
	s.told.expect(t, "before the restore", 4, 5)
	s.log.set(func() { s.log.entries, s.log.latest = s.log.entries[:2], 2 })
	s.catchUp(t)
	s.told.expect(t, "after the restore", gap)
	s.log.commit(1) // the second time that there is a 3
	s.catchUp(t)
	s.told.expect(t, "the first change after it", 3)
}

func TestAChangeCommittedBetweenTwoQuestionsIsNoGap(t *testing.T) {
	s := started(t)
	s.log.onEmpty = func() { s.log.commit(2) }
	s.catchUp(t)
	s.told.expect(t, "committed while it looked", 4, 5)
}

func TestFailuresAreLoggedOncePerOutageAndMissedChangesToldAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := started(t)
		s.run(t)
		for outage := int64(1); outage <= 2; outage++ {
			s.log.set(func() { s.log.down = errors.New("connection refused") })
			s.log.commit(1)
			time.Sleep(20 * interval)
			synctest.Wait()
			s.told.expect(t, "during the outage")
			s.log.set(func() { s.log.down = nil })
			time.Sleep(20 * interval)
			synctest.Wait()
			s.told.expect(t, "after the outage", 3+outage)
			if warnings, lines := strings.Count(s.lines.String(), "level=WARN"), strings.Count(s.lines.String(), "\n"); warnings != int(outage) || lines != 2*int(outage) {
				t.Fatalf("after outage %d:\n%s", outage, s.lines)
			}
		}
		if !strings.Contains(s.lines.String(), "connection refused") {
			t.Fatalf("the log does not say why:\n%s", s.lines)
		}
	})
}

func TestAFailureInTheMiddleNeitherSkipsNorRepeats(t *testing.T) {
	s := started(t)
	s.log.commit(500)
	s.log.onEmpty = func() { s.log.set(func() { s.log.down = errors.New("connection reset") }) }
	if err := s.follower.CatchUp(t.Context()); err == nil {
		t.Fatal("caught up although the log's end could not be read")
	}
	if got := s.told.since(); len(got) != 500 {
		t.Fatalf("told %d changes", len(got))
	}
	s.log.set(func() { s.log.down = nil })
	s.log.commit(1)
	s.catchUp(t)
	s.told.expect(t, "afterwards", 504)
}

func TestCatchUpWaitsNoLongerThanItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := started(t)
		hold := make(chan struct{})
		s.log.set(func() { s.log.hold = hold })
		first := make(chan error)
		go func() { first <- s.follower.CatchUp(t.Context()) }()
		synctest.Wait()

		leaving, leave := context.WithCancel(t.Context())
		second := make(chan error)
		go func() { second <- s.follower.CatchUp(leaving) }()
		synctest.Wait()
		leave()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Fatalf("who left while another one looked: %v", err)
		}
		close(hold)
		if err := <-first; err != nil {
			t.Fatalf("who stayed: %v", err)
		}

		s.log.set(func() { s.log.hold = make(chan struct{}) }) // never answers
		leaving, leave = context.WithCancel(t.Context())
		go func() { second <- s.follower.CatchUp(leaving) }()
		synctest.Wait()
		leave()
		if err := <-second; !errors.Is(err, context.Canceled) || s.lines.Len() != 0 {
			t.Fatalf("who left while it looked itself: %v\n%s", err, s.lines)
		}
		began := time.Now()
		if err := s.follower.CatchUp(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			t.Fatalf("an archive that does not answer: %v after %v", err, time.Since(began))
		}
		if strings.Count(s.lines.String(), "level=WARN") != 1 {
			t.Fatalf("an archive that does not answer is an outage:\n%s", s.lines)
		}
	})
}

func TestConcurrentLooksTellEachChangeOnce(t *testing.T) {
	s := started(t)
	s.run(t)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 50 {
				s.log.commit(1)
				if err := s.follower.CatchUp(context.Background()); err != nil {
					t.Errorf("catch up: %v", err)
				}
			}
		})
	}
	callers.Wait()
	got := s.told.since()
	for i, v := range got {
		if v != int64(4+i) {
			t.Fatalf("change %d was told in place %d", v, i)
		}
	}
	if len(got) != 400 {
		t.Fatalf("told %d changes of 400", len(got))
	}
}

func TestWhatWasCommittedBeforeCatchUpIsInForceAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := started(t)
		hold := make(chan struct{})
		s.log.set(func() { s.log.hold = hold })
		s.run(t)
		s.nudges <- struct{}{}
		synctest.Wait() // Run is in the middle of a look
		s.log.commit(1)
		done := make(chan error)
		go func() { done <- s.follower.CatchUp(t.Context()) }()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("caught up before the archive answered")
		default:
		}
		close(hold)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		s.told.expect(t, "when CatchUp returned", 4)
	})
}
