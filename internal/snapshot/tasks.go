package snapshot

import (
	"context"
	"sync"
	"time"
)

// tasks is work that is done some at the same time, and that may lead to more of it. What was added last is done first, so
// that what a task leaves to be done does not wait for all others.
type tasks struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting []func()
	running int
}

func newTasks() *tasks {
	t := &tasks{}
	t.changed.L = &t.mu
	return t
}

// add may be called by a task.
func (t *tasks) add(task func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, task)
	t.changed.Signal()
}

// run does all tasks, and those that they add, and returns when none is left. It begins with one at a time, and after each step
// that this takes does one more at the same time, up to atOnce; with a step of 0 that is at once.
func (t *tasks) run(atOnce int, step time.Duration) {
	none, end := context.WithCancel(context.Background())
	defer end()
	var workers sync.WaitGroup
	for i := range atOnce {
		workers.Go(func() {
			defer end()
			select {
			case <-none.Done():
			case <-time.After(time.Duration(i) * step):
			}
			for task := t.take(); task != nil; task = t.take() {
				task()
				t.done()
			}
		})
	}
	workers.Wait()
}

// take waits for a task; nil when there will be none.
func (t *tasks) take() func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waiting) == 0 && t.running > 0 {
		t.changed.Wait()
	}
	last := len(t.waiting) - 1
	if last < 0 {
		return nil
	}
	task := t.waiting[last]
	t.waiting = t.waiting[:last]
	t.running++
	return task
}

func (t *tasks) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	if t.running == 0 {
		t.changed.Broadcast()
	}
}
