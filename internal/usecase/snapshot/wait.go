package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/platform/pause"
)

// ErrNotArchived says that at the end of a Wait changes still wait to be archived.
var ErrNotArchived = errors.New("changes wait to be archived, and the snapshot writer gets nowhere")

const (
	// lookPause is the pause between two checks of a Wait.
	lookPause = 100 * time.Millisecond
	// StallTime is how long a Wait continues without progress.
	StallTime = 3 * time.Minute
)

// Wait polls the snapshot writer's progress. The zero Wait is ready for use.
type Wait[Progress comparable] struct {
	seen  Progress
	since time.Time
}

// Again pauses until the next check. It returns ErrNotArchived if seen has been the same for StallTime, or if ctx ends.
func (w *Wait[Progress]) Again(ctx context.Context, seen Progress) error {
	if now := time.Now(); w.since.IsZero() || seen != w.seen {
		w.seen, w.since = seen, now
	} else if now.Sub(w.since) >= StallTime {
		return ErrNotArchived
	}
	if !pause.For(ctx, lookPause) {
		return fmt.Errorf("%w: %w", ErrNotArchived, context.Cause(ctx))
	}
	return nil
}
