package snapshot_test

import (
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
	work.Run(atOnce, 0)
	if n := done.Load(); n != 1<<10-1 {
		t.Errorf("%d tasks are done, want %d", n, 1<<10-1)
	}
	if n := most.Load(); n > atOnce {
		t.Errorf("%d tasks at once, want at most %d", n, atOnce)
	}
	work.Run(atOnce, 0)
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
	work.Run(2, 0)
}

// Every second one more task is done at the same time, and who would have come to help does not hold up the end.
func TestTasksBeginOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work, began := snapshot.NewTasks(), time.Now()
		var running, most atomic.Int64
		for range 9 {
			work.Add(func() {
				most.Store(max(most.Load(), running.Add(1)))
				if now, allowed := running.Load(), int64(time.Since(began)/time.Second)+1; now > allowed {
					t.Errorf("%d tasks at once after %v", now, time.Since(began))
				}
				time.Sleep(900 * time.Millisecond)
				running.Add(-1)
			})
		}
		work.Run(3, time.Second)
		if n := most.Load(); n != 3 {
			t.Errorf("%d tasks at once, want 3", n)
		}
		// One is at work for 3.6 s, a second from 1 s to 3.7 s, a third from 2 s to 3.8 s.
		if took := time.Since(began); took != 3800*time.Millisecond {
			t.Errorf("took %v", took)
		}
		began = time.Now()
		work.Add(func() {})
		work.Run(3, time.Second)
		if took := time.Since(began); took != 0 {
			t.Errorf("one task took %v", took)
		}
	})
}
