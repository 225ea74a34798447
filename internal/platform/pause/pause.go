// Package pause waits for a while, or for less, and tells how long a caller is patient with a silent store. It knows no store.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends if that is sooner, and reports whether ctx has lasted. A d of 0 or less is no wait.
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

// Again does something after each wait until ctx ends, and calls failed with the first error of each row of them.
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

// WithPatience returns a context in which a step on the live store gives up when nothing was heard from the store for d; 0 leaves it to the
// store. While it answers others, a step waits for its turn until ctx ends. So a busy store is not taken for one that is away.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	if d <= 0 {
		return ctx
	}
	return context.WithValue(ctx, patienceKey{}, d)
}

// Patience is what WithPatience gave to ctx, or 0.
func Patience(ctx context.Context) time.Duration {
	d, _ := ctx.Value(patienceKey{}).(time.Duration)
	return d
}
