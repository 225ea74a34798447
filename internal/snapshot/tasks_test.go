package snapshot_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/snapshot"
)

func TestTasksThatAddTasks(t *testing.T) {
	const atOnce = 3
	var running, most, done atomic.Int64
	work := snapshot.NewTasks()
	var task func(deep int) func()
	task = func(deep int) func() {
		return func() {
			for now := running.Add(1); ; {
				if before := most.Load(); now <= before || most.CompareAndSwap(before, now) {
					break
				}
			}
			if deep > 0 {
				work.Add(task(deep - 1))
				work.Add(task(deep - 1))
			}
			done.Add(1)
			running.Add(-1)
		}
	}
	work.Add(task(9))
	work.Run(t.Context(), atOnce, 0)
	if n := done.Load(); n != 1<<10-1 {
		t.Errorf("%d tasks are done, want %d", n, 1<<10-1)
	}
	if n := most.Load(); n > atOnce {
		t.Errorf("%d tasks at once, want at most %d", n, atOnce)
	}
	work.Run(t.Context(), atOnce, 0)
	if n := done.Load(); n != 1<<10-1 {
		t.Error("a task was done twice")
	}
}

// Tasks that need each other to go on do, so they are done at the same time.
func TestTasksAreDoneAtTheSameTime(t *testing.T) {
	work, meet := snapshot.NewTasks(), make(chan struct{})
	work.Add(func() {
		work.Add(func() { meet <- struct{}{} })
		<-meet
	})
	work.Run(t.Context(), 2, 0)
}

// worked is how a run of tasks went.
type worked struct {
	took time.Duration
	most int64 // at once
}

func paced(t *testing.T, count int, each, within time.Duration) (w worked) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tasks, began := snapshot.NewTasks(), time.Now()
		var running, most atomic.Int64
		for range count {
			tasks.Add(func() {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(each)
				running.Add(-1)
			})
		}
		tasks.Run(t.Context(), 4, within)
		w = worked{time.Since(began), most.Load()}
	})
	return w
}

// As many tasks as the time needs are done at once, and no more.
func TestTasksTakeTheTimeThatTheyHave(t *testing.T) {
	const within = 16 * time.Second
	for _, c := range []struct {
		name  string
		count int
		each  time.Duration
		most  int64
		took  time.Duration // at most
	}{
		{"one is enough", 150, 100 * time.Millisecond, 1, within},
		{"one alone", 1, time.Millisecond, 1, time.Millisecond},
		{"two are enough", 300, 100 * time.Millisecond, 2, 18 * time.Second},
		{"three are enough", 450, 100 * time.Millisecond, 3, 19 * time.Second},
		{"all are not enough", 1600, 100 * time.Millisecond, 4, 43 * time.Second},
		{"one is as long as the time", 2, 16 * time.Second, 2, 24 * time.Second},
	} {
		if w := paced(t, c.count, c.each, within); w.most != c.most || w.took > c.took {
			t.Errorf("%s: %d at once, %v; want %d, at most %v", c.name, w.most, w.took, c.most, c.took)
		}
	}
	if w := paced(t, 40, 100*time.Millisecond, 0); w.most != 4 || w.took != time.Second {
		t.Errorf("without a time: %+v, want four at once from the first on", w)
	}
}

func TestTasksBeginEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks, began := snapshot.NewTasks(), time.Now()
		var begins []time.Duration
		for range 4 {
			tasks.Add(func() {
				begins = append(begins, time.Since(began))
				time.Sleep(time.Second)
			})
		}
		tasks.Run(t.Context(), 4, 16*time.Second)
		if want := []time.Duration{0, 4 * time.Second, 8 * time.Second, 12 * time.Second}; !slices.Equal(begins, want) {
			t.Errorf("begun at %v, want %v", begins, want)
		}
	})
}

// A round that ends, because the process does or the lease is lost, does not wait for the time of its last task.
func TestTasksDoNotWaitOnceTheirRoundHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		tasks, began := snapshot.NewTasks(), time.Now()
		done := 0
		for range 10 {
			tasks.Add(func() { done++ })
		}
		tasks.Run(ctx, 1, time.Hour)
		if took := time.Since(began); took != time.Second || done != 10 {
			t.Errorf("%d of 10 tasks after %v", done, took)
		}
	})
}

// One that takes more than its share leaves the others less.
func TestTasksShareTheTime(t *testing.T) {
	const within = 12 * time.Second
	synctest.Test(t, func(t *testing.T) {
		tasks := snapshot.NewTasks()
		var shares []time.Duration
		for i := range 4 {
			tasks.Add(func() {
				share := time.Until(tasks.Share())
				shares = append(shares, share)
				if i == 3 {
					share *= 2
				}
				time.Sleep(share)
			})
		}
		tasks.Run(t.Context(), 1, within)
		if want := []time.Duration{3 * time.Second, 2 * time.Second, 2 * time.Second, 2 * time.Second}; !slices.Equal(shares, want) {
			t.Errorf("shares %v, want %v", shares, want)
		}
		tasks.Add(func() {
			if due := tasks.Share(); due.After(time.Now()) {
				t.Errorf("a share of %v where there is no time", time.Until(due))
			}
		})
		tasks.Run(t.Context(), 1, 0)
	})
}
