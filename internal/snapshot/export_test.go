package snapshot

import (
	"context"
	"time"
)

// WithoutBadRows is withoutBadRows, whose calls can only be counted from outside of a store.
var WithoutBadRows = withoutBadRows

// Tasks are tasks.
type Tasks struct{ *tasks }

// NewTasks is newTasks.
func NewTasks() Tasks { return Tasks{newTasks()} }

// Add is add.
func (t Tasks) Add(task func()) { t.add(task) }

// Run is run.
func (t Tasks) Run(ctx context.Context, atOnce int, within time.Duration) { t.run(ctx, atOnce, within) }

// Share is share.
func (t Tasks) Share() time.Time { return t.share() }

// DueOf is dueOf, after a round that began at last, or after none.
func (w *Writer) DueOf(began, last time.Time) time.Time {
	w.lastRound = last
	return w.dueOf(began)
}

// Pace is pace.
type Pace struct{ *pace }

// NewPace is newPace.
func NewPace(size int64, due time.Time) Pace { return Pace{newPace(size, due)} }

// Wait is wait.
func (p Pace) Wait(ctx context.Context, members int) { p.wait(ctx, members) }
