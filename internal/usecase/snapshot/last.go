package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/lease"
)

const (
	// lastTime is how long a last snapshot may take when its context does not say: others who stop wait for it as long.
	lastTime = time.Minute
	// lastLook is how often a process that stops looks whether another one has given the lease up.
	lastLook = 50 * time.Millisecond
)

// Flush writes everything that changed until now before a process ends, if it holds the lease or can get it; call Release after it. It
// returns the first error; nil when another replica holds the lease, which then writes. One that stops as well may have looked already
// at what was changed here, so it is waited for, until ctx ends.
func (w *Writer) Flush(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.lastLease(ctx)
	if errors.Is(err, lease.ErrLost) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	unnoted := w.beginLast(ctx) // of a cluster the other nodes may be there
	w.rounds = 0
	defer w.unlist()
	return errors.Join(unnoted, w.round(ctx, true))
}

// lastLease takes the lease; lease.ErrLost when it is left to another one, which goes on writing, or begins its last snapshot after this
// was called.
func (w *Writer) lastLease(ctx context.Context) error {
	for {
		// In this order: whoever ends its last snapshot in between has given the lease up.
		last, unasked := w.live.Last(ctx)
		_, err := w.lease.Take(ctx)
		switch {
		case !errors.Is(err, lease.ErrLost):
			return err
		case unasked != nil:
			return unasked
		case last == "" || last == w.holder:
			return err
		case !pause.For(ctx, lastLook):
			return context.Cause(ctx)
		}
	}
}

// beginLast tells the others who stop to wait. It comes before anything is looked at.
func (w *Writer) beginLast(ctx context.Context) error {
	atMost := lastTime
	if deadline, ok := ctx.Deadline(); ok {
		atMost = time.Until(deadline)
	}
	w.last = true
	return w.live.BeginLast(ctx, w.holder, atMost)
}

// Release gives the lease up, so that another replica can go on at once.
func (w *Writer) Release(ctx context.Context) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	err = w.lease.Release(ctx)
	if w.last { // only now, or who waits would find a lease that is held, and nobody to wait for
		w.last = false
		err = errors.Join(err, w.live.EndLast(ctx, w.holder))
	}
	return err
}
