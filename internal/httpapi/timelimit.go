package httpapi

import (
	"context"
	"sync/atomic"
	"time"
)

// timeLimit is a context that ends with another, or at a time. It has no timer before somebody waits for its end, which most
// requests never do: to make one and to be told by the other context costs a request a twentieth of its time (docs/benchmarks.md).
// It must not be copied.
type timeLimit struct {
	context.Context // the other
	ends            time.Time
	timed           atomic.Pointer[timed] // nil until somebody waits
}

type timed struct {
	context.Context
	cancel context.CancelFunc
}

// Deadline implements context.Context.
func (t *timeLimit) Deadline() (time.Time, bool) { return t.ends, true }

// Err implements context.Context. It may tell that the time is over a moment before Done does.
func (t *timeLimit) Err() error {
	if timed := t.timed.Load(); timed != nil {
		return timed.Err()
	}
	if err := t.Context.Err(); err != nil {
		return err
	}
	if time.Until(t.ends) <= 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// Done implements context.Context.
func (t *timeLimit) Done() <-chan struct{} {
	if t.timed.Load() == nil {
		ctx, cancel := context.WithDeadline(t.Context, t.ends)
		if !t.timed.CompareAndSwap(nil, &timed{ctx, cancel}) {
			cancel() // somebody else was first
		}
	}
	return t.timed.Load().Done()
}

// Value implements context.Context. What package context keeps there tells contexts made of this one that they can wait for the
// one with the timer, without a goroutine of their own.
func (t *timeLimit) Value(key any) any {
	if timed := t.timed.Load(); timed != nil {
		return timed.Value(key)
	}
	return t.Context.Value(key)
}

// stop ends what waits for the end, and gives the timer back.
func (t *timeLimit) stop() {
	if timed := t.timed.Load(); timed != nil {
		timed.cancel()
	}
}
