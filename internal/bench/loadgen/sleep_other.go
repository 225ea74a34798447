//go:build !linux

package loadgen

import (
	"context"
	"time"

	"levelboard/internal/platform/pause"
)

// sleeper waits for a moment as exactly as the system's timers are.
type sleeper struct{}

func newSleeper() sleeper { return sleeper{} }

func (sleeper) close() {}

// until reports false when ctx ended first.
func (sleeper) until(ctx context.Context, at time.Time) bool {
	return pause.For(ctx, time.Until(at))
}
