package snapshot_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/usecase/snapshot"
)

// plain is a task that leads to no other.
func plain(size int, do func()) snapshot.Task {
	return snapshot.NewTask(size, func(time.Time) []snapshot.Task {
		do()
		return nil
	})
}

func TestTasksThatLeadToTasks(t *testing.T) {
	const atOnce = 3
	var done atomic.Int64
	var running parallel
	var tree func(size int) snapshot.Task
	tree = func(size int) snapshot.Task {
		return snapshot.NewTask(size, func(time.Time) (more []snapshot.Task) {
			defer running.begin()()
			done.Add(1)
			if size > 1 {
				more = append(more, tree(size/2), tree(size/2))
			}
			return more
		})
	}
	snapshot.Run(t.Context(), atOnce, 0, []snapshot.Task{tree(512)})
	if n := done.Load(); n != 1<<10-1 {
		t.Errorf("%d tasks were done, want %d", n, 1<<10-1)
	}
	if n := running.most.Load(); n > atOnce {
		t.Errorf("%d tasks at once, want at most %d", n, atOnce)
	}
	snapshot.Run(t.Context(), atOnce, time.Hour, nil)
}

// Tasks that need each other to go on do, so they are done at the same time.
func TestTasksAreDoneAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meet := make(chan struct{})
		waits := plain(1, func() {
			select {
			case meet <- struct{}{}:
			case <-meet:
			case <-time.After(time.Minute): // of the bubble, in which it is over once nothing else goes on
				t.Error("a task waits for one that is to be done at the same time, and does not begin")
			}
		})
		snapshot.Run(t.Context(), 2, 0, []snapshot.Task{waits, waits})
	})
}

// parallel counts what is done at the same time.
type parallel struct{ now, most atomic.Int64 }

// begin returns the end.
func (p *parallel) begin() func() {
	for now := p.now.Add(1); ; {
		if before := p.most.Load(); now <= before || p.most.CompareAndSwap(before, now) {
			return func() { p.now.Add(-1) }
		}
	}
}

// worked is how a run of tasks went.
type worked struct {
	took time.Duration
	most int64 // at once
}

func paced(t *testing.T, count int, each, within time.Duration) (w worked) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var tasks []snapshot.Task
		var running parallel
		for range count {
			tasks = append(tasks, plain(1, func() {
				defer running.begin()()
				time.Sleep(each)
			}))
		}
		began := time.Now()
		snapshot.Run(t.Context(), 4, within, tasks)
		w = worked{time.Since(began), running.most.Load()}
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
	for _, c := range []struct {
		name string
		size []int
		want []time.Duration
	}{
		{"of one size", []int{1, 1, 1, 1}, []time.Duration{0, 4 * time.Second, 8 * time.Second, 12 * time.Second}},
		{"of several sizes", []int{2, 8, 5, 1}, []time.Duration{0, time.Second, 6 * time.Second, 14 * time.Second}}, // the last one first
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var tasks []snapshot.Task
			var begins []time.Duration
			for _, size := range c.size {
				tasks = append(tasks, plain(size, func() {
					begins = append(begins, time.Since(began))
					time.Sleep(time.Millisecond)
				}))
			}
			snapshot.Run(t.Context(), 4, 16*time.Second, tasks)
			if !slices.Equal(begins, c.want) {
				t.Errorf("%s: begun at %v, want %v", c.name, begins, c.want)
			}
		})
	}
}

// What tasks lead to is not known before: it counts in their place, so that there is no rest while much of it is to come.
func TestTasksThatLeadToMoreEndInTime(t *testing.T) {
	const groups, each, within = 10, 10, 16 * time.Second
	synctest.Test(t, func(t *testing.T) {
		var tasks []snapshot.Task
		for range groups {
			tasks = append(tasks, snapshot.NewTask(each, func(time.Time) (more []snapshot.Task) {
				for range each {
					more = append(more, plain(1, func() { time.Sleep(within * 2 / (groups * each)) }))
				}
				return more
			}))
		}
		began := time.Now()
		snapshot.Run(t.Context(), 4, within, tasks)
		if took := time.Since(began); took > within*9/8 {
			t.Errorf("done after %v, want about %v", took, within)
		}
	})
}

// A round that ends, because the process does or the lease is lost, does not wait for the time of its last task.
func TestTasksDoNotWaitOnceTheirRoundHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var tasks []snapshot.Task
		done := 0
		for range 10 {
			tasks = append(tasks, plain(1, func() { done++ }))
		}
		began := time.Now()
		snapshot.Run(ctx, 1, time.Hour, tasks)
		if took := time.Since(began); took != time.Second || done != 10 {
			t.Errorf("%d of 10 tasks after %v", done, took)
		}
	})
}

// One that takes more than its share leaves the others less.
func TestTasksShareTheTime(t *testing.T) {
	const within = 12 * time.Second
	synctest.Test(t, func(t *testing.T) {
		var tasks []snapshot.Task
		var shares []time.Duration
		for i := range 4 {
			tasks = append(tasks, snapshot.NewTask(1, func(due time.Time) []snapshot.Task {
				share := time.Until(due)
				shares = append(shares, share)
				if i == 3 {
					share *= 2
				}
				time.Sleep(share)
				return nil
			}))
		}
		snapshot.Run(t.Context(), 1, within, tasks)
		if want := []time.Duration{3 * time.Second, 2 * time.Second, 2 * time.Second, 2 * time.Second}; !slices.Equal(shares, want) {
			t.Errorf("shares %v, want %v", shares, want)
		}
		snapshot.Run(t.Context(), 1, 0, []snapshot.Task{snapshot.NewTask(1, func(due time.Time) []snapshot.Task {
			if due.After(time.Now()) {
				t.Errorf("a share of %v where there is no time", time.Until(due))
			}
			return nil
		})})
	})
}
