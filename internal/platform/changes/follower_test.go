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
