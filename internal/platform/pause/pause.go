// Package pause waits, and carries in a context how long a caller waits for a silent store. It knows no store.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends if that is sooner. lasted is false if ctx has ended. A d of 0 or less means no wait.
func For(ctx context.Context, d time.Duration) (lasted bool) {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Again waits and calls do, over and over, until ctx ends. It calls failed with the first of several errors in a row.
func Again(ctx context.Context, wait func() time.Duration, do func(context.Context) error, failed func(error)) {
	for failing := false; For(ctx, wait()); {
		err := do(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			failed(err)
		}
		failing = err != nil
	}
}

type patienceKey struct{}

// WithPatience returns a context in which a step on the live store gives up when the store has been silent for d; 0 leaves the time to the
// store. While the store answers other callers, the step waits for its turn until ctx ends. So a busy store is not mistaken for a dead one.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	if d <= 0 {
		return ctx
	}
	return context.WithValue(ctx, patienceKey{}, d)
}

// Patience returns the patience that WithPatience gave to ctx, or 0.
func Patience(ctx context.Context) time.Duration {
	d, _ := ctx.Value(patienceKey{}).(time.Duration)
	return d
}
