package changes_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/platform/changes"
)

func TestEveryChangeIsReportedOnceAndInOrder(t *testing.T) {
	s := started(t)
	s.catchUp(t)
	s.told.expect(t, "nothing new")
	s.log.commit(2)
	s.catchUp(t)
	s.told.expect(t, "two new ones", 4, 5)
	s.catchUp(t)
	s.told.expect(t, "nothing new again")

	s.log.commit(1234) // more than fits one read
	s.catchUp(t)
	got := s.told.since()
	if len(got) != 1234 || got[0] != 6 || got[1233] != 1239 || !slices.IsSorted(got) {
		t.Fatalf("%d changes were reported, from %d to %d, want 6 to 1239 in order", len(got), got[0], got[len(got)-1])
	}
	s.log.commit(500) // exactly one read
	s.catchUp(t)
	if got := s.told.since(); len(got) != 500 || got[499] != 1739 {
		t.Fatalf("%d changes were reported, want 500 up to 1739", len(got))
	}
}

func TestStartFailsWithoutTheArchive(t *testing.T) {
	down := errors.New("connection refused")
	f := changes.NewFollower(&archive{down: down}, nil, interval, slog.New(slog.DiscardHandler), nil, nil)
	if err := f.Start(t.Context()); !errors.Is(err, down) {
		t.Fatalf("starting without an archive: %v, want its error", err)
	}
}

func TestRunReadsEveryInterval(t *testing.T) {
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

func TestANudgeIsFollowedAtOnce(t *testing.T) {
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
		// Reading a closed channel would be a busy loop.
		s.log.set(func() {
			if s.log.reads > 12 {
				t.Errorf("the log was read %d times in ten intervals, want at most 12", s.log.reads)
			}
		})
	})
}

func TestPurgedEntriesAreAGap(t *testing.T) {
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
	s.log.commit(1) // a second entry 3
	s.catchUp(t)
	s.told.expect(t, "the first change after it", 3)
}

func TestAChangeBetweenTwoReadsIsNoGap(t *testing.T) {
	s := started(t)
	s.log.onEmpty = func() { s.log.commit(2) }
	s.catchUp(t)
	s.told.expect(t, "committed while it looked", 4, 5)
}

func TestAnOutageIsLoggedOnceAndItsChangesAreReported(t *testing.T) {
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
				t.Fatalf("after outage %d the log has %d warnings in %d lines, want %d and %d:\n%s", outage, warnings, lines, outage, 2*outage, s.lines)
			}
		}
		if !strings.Contains(s.lines.String(), "connection refused") {
			t.Fatalf("the log does not have the error:\n%s", s.lines)
		}
	})
}

func TestAFailureInTheMiddleSkipsAndRepeatsNothing(t *testing.T) {
	s := started(t)
	s.log.commit(500)
	s.log.onEmpty = func() { s.log.set(func() { s.log.down = errors.New("connection reset") }) }
	if err := s.follower.CatchUp(t.Context()); err == nil {
		t.Fatal("CatchUp returned no error, though the log's end could not be read")
	}
	if got := s.told.since(); len(got) != 500 {
		t.Fatalf("%d changes were reported, want 500", len(got))
	}
	s.log.set(func() { s.log.down = nil })
	s.log.commit(1)
	s.catchUp(t)
	s.told.expect(t, "afterwards", 504)
}

func TestCatchUpEndsWithItsCaller(t *testing.T) {
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
			t.Fatalf("a caller who left while another read: %v, want context.Canceled", err)
		}
		close(hold)
		if err := <-first; err != nil {
			t.Fatalf("the caller who stayed: %v, want none", err)
		}

		s.log.set(func() { s.log.hold = make(chan struct{}) }) // reads hang
		leaving, leave = context.WithCancel(t.Context())
		go func() { second <- s.follower.CatchUp(leaving) }()
		synctest.Wait()
		leave()
		if err := <-second; !errors.Is(err, context.Canceled) || s.lines.Len() != 0 {
			t.Fatalf("a caller who left during its own read: %v, want context.Canceled and no log\n%s", err, s.lines)
		}
		began := time.Now()
		if err := s.follower.CatchUp(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			t.Fatalf("with an archive that does not answer: %v after %v, want the deadline within 5s", err, time.Since(began))
		}
		if strings.Count(s.lines.String(), "level=WARN") != 1 {
			t.Fatalf("an archive that does not answer is not logged as one outage:\n%s", s.lines)
		}
	})
}

func TestCatchUpReportsWhatWasCommittedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := started(t)
		hold := make(chan struct{})
		s.log.set(func() { s.log.hold = hold })
		s.run(t)
		s.nudges <- struct{}{}
		synctest.Wait() // Run is in the middle of a read
		s.log.commit(1)
		done := make(chan error)
		go func() { done <- s.follower.CatchUp(t.Context()) }()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("CatchUp returned before the archive answered")
		default:
		}
		close(hold)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		s.told.expect(t, "when CatchUp returned", 4)
	})
}
