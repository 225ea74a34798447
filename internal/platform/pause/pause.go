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
