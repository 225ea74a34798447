package periods_test

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

// noted is an archive that counts how often each period closed and was announced.
type noted struct {
	periods.Archive
	closes, announced map[string]int
	between           func() // runs after each closing
}

func (n *noted) ClosePeriod(ctx context.Context, l lease.Lease, step periods.Closing) (bool, error) {
	closed, err := n.Archive.ClosePeriod(ctx, l, step)
	if closed {
		n.closes[step.Period.ID]++
		n.between()
	}
	return closed, err
}

func (n *noted) Announced(ctx context.Context, a periods.Announcement) error {
	n.announced[a.ID]++
	return n.Archive.Announced(ctx, a)
}

// gainDaily lets a member gain on each of this many days, until the last has ended.
func (w *world) gainDaily(days int) (first period.Day) {
	w.Helper()
	w.create(1)
	look(w, w.closer(w.archive)) // starts counting today
	first = w.today()
	for w.days = 0; w.days < days; w.days++ {
		w.gain(1, 10)
	}
	w.snapshot()
	return first
}

// Two processes have a writer and a closer each. The lease passes to the second while the first one's closer works.
func TestTwoHoldersOfTheLeaseCloseEachPeriodOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const days = 12
	first := w.gainDaily(days)
	n := &noted{Archive: w.archive, closes: map[string]int{}, announced: map[string]int{}}
	writerOne, closerOne := w.writer, w.closer(n)
	w.writer = snapshot.NewWriter(w.live, w.archive, w.hydrator, snapshot.WriterOptions{Holder: "two", Interval: time.Hour, Log: slog.New(slog.DiscardHandler)})
	closerTwo := w.closer(n)
	n.between = func() {
		if _, held := w.writer.Lease(); !held && len(n.closes) == days/2 {
			w.must(writerOne.Release(t.Context()))
			w.snapshot()
			look(w, closerTwo)
		}
	}
	if err := closerOne.Look(t.Context()); !errors.Is(err, lease.ErrLost) {
		t.Errorf("the first holder got %v, want lease.ErrLost", err)
	}
	for _, c := range []*periods.Closer{closerOne, closerTwo} {
		look(w, c)
	}
	for d := first; d < first+days; d++ {
		p := period.At(period.Daily, d)
		if n.closes[p.ID] != 1 || n.announced[p.ID] != 1 {
			t.Errorf("%s closed %d times and was announced %d times, want once each", p.ID, n.closes[p.ID], n.announced[p.ID])
		}
		if _, rows := w.closed(p); !reflect.DeepEqual(rows, []standing{{user(1), 10}}) {
			t.Errorf("%s has %v, want 10 XP of the first user", p.ID, rows)
		}
	}
}

// More periods than one read returns cannot be announced. Later periods still are.
func TestAFailingAnnouncementDelaysNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const fails, days = 100, 110
	first := w.gainDaily(days)
	told := map[string]int{}
	c := w.closer(&cut{Archive: w.archive, announced: func(a periods.Announcement) bool {
		told[a.ID]++
		return a.End <= first+fails
	}})
	for range 3 { // each closes 100 periods of a guild
		if err := c.Look(t.Context()); !errors.Is(err, errDied) {
			t.Errorf("a look with failing announcements: %v, want errDied", err)
		}
	}
	for d := first; d < first+days; d++ {
		if n := told[period.At(period.Daily, d).ID]; d < first+fails && n < 2 || d >= first+fails && n != 1 {
			t.Errorf("day %d was announced %d times, want 2 or more if it fails, else once", d-first, n)
		}
	}
}
