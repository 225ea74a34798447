package periods_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

func look(w *world, c *periods.Closer) {
	w.Helper()
	w.must(c.Look(w.Context()))
}

func TestADayClosesOnceItsChangesAreArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 4 {
		w.create(n)
	}
	w.gain(1, 10)
	w.gain(2, 30)
	w.gain(3, 30)
	w.gain(0, -5)
	c := w.closer(w.archive)
	look(w, c) // starts counting
	today := period.At(period.Daily, w.today())
	w.days = 1
	look(w, c)
	if _, err := w.archive.Closed(w.Context(), w.ref(), today.ID); !errors.Is(err, periods.ErrNotClosed) {
		t.Fatalf("before its changes were archived: %v, want periods.ErrNotClosed", err)
	}
	w.gain(1, 100) // counts for the next day
	w.snapshot()
	look(w, c)
	found, rows := w.closed(today)
	if want := []standing{{user(3), 30}, {user(2), 30}, {user(1), 10}}; !reflect.DeepEqual(rows, want) || found.Members != 3 || found.Totals.Gained != 70 {
		t.Errorf("the day closed as %+v with %v, want 3 members, 70 XP and %v", found, rows, want)
	}
	if found.Settings.Name != "Gophers" || !found.Begins.Equal(today.First.Begin(w.guild.Calendar().Zone)) {
		t.Errorf("the day closed as %+v, want the guild's name and the day's begin", found)
	}
	told := w.announced()
	if len(told) != 1 {
		t.Fatalf("the announcements are %v, want one", told)
	}
	var event periods.Event
	w.must(json.Unmarshal([]byte(told[0]), &event))
	if event.ID != today.ID || event.Kind != period.Daily || event.Name != nil || event.Members != 3 || len(event.Winners) != 3 || event.Winners[2] != (periods.Winner{Rank: 3, UserID: user(1), Gained: 10}) {
		t.Errorf("the announcement is %s, want the day with three winners", told[0])
	}
	if got := w.running(period.At(period.Daily, w.today())); !reflect.DeepEqual(got, []standing{{user(1), 100}}) {
		t.Errorf("the next day has %v, want 100 XP of the first user", got)
	}
}

// A page of changes is never archived. One of its members changes again, and a later page claims to cover everything before it.
func TestADayWaitsForAFailedPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 3 {
		w.create(n)
	}
	w.snapshot()
	c := w.closer(w.archive)
	look(w, c)
	today := period.At(period.Daily, w.today())
	w.gain(1, 10)
	w.gain(2, 20)
	w.days = 1
	look(w, c)
	w.gain(0, 5)
	w.readTwo()
	w.gain(1, 100)
	batch := w.readTwo()
	lease, _ := w.writer.Lease()
	w.must(snapshot.WriteBatch(w.Context(), w.archive, lease, batch))
	look(w, c)
	if found, err := w.archive.Closed(w.Context(), w.ref(), today.ID); !errors.Is(err, periods.ErrNotClosed) {
		t.Fatalf("before its changes were archived the day closed as %+v (%v)", found, err)
	}
	w.snapshot()
	look(w, c)
	if _, rows := w.closed(today); !reflect.DeepEqual(rows, []standing{{user(2), 20}, {user(1), 10}}) {
		t.Errorf("the day has %v, want 20 and 10 XP", rows)
	}
}

func TestPeriodsThatEndWithoutACloserCloseLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(1)
	c := w.closer(w.archive)
	look(w, c)
	first := w.today()
	w.gain(1, 10)
	w.days = 3
	w.gain(1, 5)
	w.days = 45
	w.snapshot()
	look(w, w.closer(w.archive))
	for d := first; d < w.today(); d++ {
		want := map[period.Day]int64{first: 10, first + 3: 5}[d]
		if found, _ := w.closed(period.At(period.Daily, d)); found.Totals.Gained != want {
			t.Errorf("the day %v has %d XP, want %d", d, found.Totals.Gained, want)
		}
	}
	month, week := period.At(period.Monthly, first), period.At(period.Weekly, first)
	total := int64(10)
	if week.Has(first + 3) {
		total = 15
	}
	if found, _ := w.closed(week); found.Totals.Gained != total {
		t.Errorf("the week %s has %d XP, want %d", week.ID, found.Totals.Gained, total)
	}
	total = 10
	if month.Has(first + 3) {
		total = 15
	}
	if found, _ := w.closed(month); found.Totals.Gained != total {
		t.Errorf("the month %s has %d XP, want %d", month.ID, found.Totals.Gained, total)
	}
}

func TestAPeriodClosesAfterRedisLostEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(1)
	look(w, w.closer(w.archive))
	w.gain(1, 10)
	w.snapshot()
	today := period.At(period.Daily, w.today())
	w.forget()
	w.days = 1
	look(w, w.closer(w.archive))
	if _, rows := w.closed(today); !reflect.DeepEqual(rows, []standing{{user(1), 10}}) {
		t.Errorf("the day has %v, want 10 XP of the first user", rows)
	}
	if len(w.announced()) != 1 {
		t.Error("the day was not announced once")
	}
}

// cut is the archive of a process that dies around a step.
type cut struct {
	periods.Archive
	before, after bool
	announced     func(periods.Announcement) bool // dies between the event and its note
}

var errDied = errors.New("the process died")

func (c *cut) ClosePeriod(ctx context.Context, l lease.Lease, step periods.Closing) (bool, error) {
	if step.Period == nil {
		return c.Archive.ClosePeriod(ctx, l, step)
	}
	if c.before {
		return false, errDied
	}
	closed, err := c.Archive.ClosePeriod(ctx, l, step)
	if c.after && err == nil {
		err = errDied
	}
	return closed, err
}

func (c *cut) Announced(ctx context.Context, a periods.Announcement) error {
	if c.announced != nil && c.announced(a) {
		return errDied
	}
	return c.Archive.Announced(ctx, a)
}

// Dying within the transaction is tested by postgres.TestAClosingThatIsCutOffLeavesNothing.
func TestAKilledCloserLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	always := func(periods.Announcement) bool { return true }
	for name, dies := range map[string]cut{"before": {before: true}, "after": {after: true}, "after the announcement": {announced: always}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create(1)
			look(w, w.closer(w.archive))
			w.gain(1, 10)
			w.snapshot()
			today := period.At(period.Daily, w.today())
			w.days = 1
			dies.Archive = w.archive
			if err := w.closer(&dies).Look(t.Context()); err == nil {
				t.Fatal("the closer did not die")
			}
			look(w, w.closer(w.archive))
			if _, rows := w.closed(today); !reflect.DeepEqual(rows, []standing{{user(1), 10}}) {
				t.Errorf("the day has %v, want 10 XP of the first user", rows)
			}
			if n := len(w.announced()); n < 1 || n > 2 {
				t.Errorf("the day was announced %d times, want once or twice", n)
			}
			look(w, w.closer(w.archive))
			if n := len(w.announced()); n > 2 {
				t.Errorf("after another look the day was announced %d times, want at most twice", n)
			}
		})
	}
}

// A process without the lease closes nothing.
func TestOnlyTheHolderOfTheLeaseCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(1)
	look(w, w.closer(w.archive))
	w.gain(1, 10)
	w.snapshot()
	w.must(w.writer.Release(t.Context()))
	today := period.At(period.Daily, w.today())
	w.days = 1
	look(w, w.closer(w.archive))
	if _, err := w.archive.Closed(t.Context(), w.ref(), today.ID); !errors.Is(err, periods.ErrNotClosed) {
		t.Errorf("without the lease the day closed: %v", err)
	}
}
