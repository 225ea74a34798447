package snapshot

import "time"

// WithoutBadRows is withoutBadRows, whose calls can only be counted from outside of a store.
var WithoutBadRows = withoutBadRows

// Task is a task.
type Task = task

// NewTask returns a Task.
func NewTask(size int, do func(due time.Time) []Task) Task { return Task{size, do} }

// Run is run.
var Run = run

// DueOf is dueOf, after a round that began at last, or after none.
func (w *Writer) DueOf(began, last time.Time) time.Time {
	w.lastRound = last
	return w.dueOf(began)
}
