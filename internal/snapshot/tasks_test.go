package snapshot_test

import (
	"sync/atomic"
	"testing"

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
	work.Run(atOnce)
	if n := done.Load(); n != 1<<10-1 {
		t.Errorf("%d tasks are done, want %d", n, 1<<10-1)
	}
	if n := most.Load(); n > atOnce {
		t.Errorf("%d tasks at once, want at most %d", n, atOnce)
	}
	work.Run(atOnce)
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
	work.Run(2)
}
