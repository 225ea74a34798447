package snapshot

import (
	"context"
	"sync"
	"time"
)

// tasks is work that is done some at the same time, and that may lead to more of it. What was added last is done first, so
// that what a task leaves to be done does not wait for all others.
type tasks struct {
	news chan struct{} // holds one when a task was added or is done

	mu       sync.Mutex
	waiting  []func()
	running  int
	finished int
	due      time.Time // when all are to be done
}

func newTasks() *tasks { return &tasks{news: make(chan struct{}, 1)} }

// add may be called by a task.
func (t *tasks) add(task func()) {
	t.mu.Lock()
	t.waiting = append(t.waiting, task)
	t.mu.Unlock()
	t.tell()
}

func (t *tasks) tell() {
	select {
	case t.news <- struct{}{}:
	default:
	}
}

// run does all tasks, and those that they add, and returns when none is left. It begins them evenly over the time that they may take, one
// at a time for as long as that will have done all of them within it, and more at the same time, up to atOnce, the further it is behind: the
// others whom the machine is for are to feel little of it. With a time of 0 it does atOnce from the first on, and so it does once ctx has
// ended: then it is for the tasks to do nothing.
func (t *tasks) run(ctx context.Context, atOnce int, within time.Duration) {
	began := time.Now()
	t.mu.Lock()
	t.finished, t.due = 0, began.Add(within)
	t.mu.Unlock()
	late := time.NewTimer(within)
	defer late.Stop()
	ended := ctx.Done()
	for {
		left, next := t.begin(atOnce, time.Since(began), within)
		if !left {
			return
		}
		late.Reset(next)
		select {
		case <-t.news:
		case <-late.C:
		case <-ended:
			within, ended = 0, nil
		}
	}
}

// lateness is what share of the time tasks are behind, for each one more that is done at the same time.
const lateness = 1.0 / 16

// begin begins the tasks that may be done now, and says whether there are any left and when one more may be done.
func (t *tasks) begin(atOnce int, passed, within time.Duration) (left bool, next time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waiting) > 0 && t.running < atOnce {
		all := float64(t.finished + t.running + len(t.waiting))
		begun, done := float64(t.finished+t.running)/all, float64(t.finished)/all
		if next = time.Duration(max(begun, done+lateness*float64(t.running))*float64(within)) - passed; next > 0 {
			return true, next
		}
		last := len(t.waiting) - 1
		task := t.waiting[last]
		t.waiting = t.waiting[:last]
		t.running++
		go func() {
			task()
			t.done()
		}()
	}
	return t.running > 0, time.Hour
}

func (t *tasks) done() {
	t.mu.Lock()
	t.running--
	t.finished++
	t.mu.Unlock()
	t.tell()
}

// share is when a task that has just begun is to be done: those that are not done yet share the time that is left.
func (t *tasks) share() (due time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Add(time.Until(t.due) / time.Duration(t.running+len(t.waiting)))
}
