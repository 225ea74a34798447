package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/platform/pause"
)

// ErrNotArchived says that changes still wait to be archived at the end of a Wait.
var ErrNotArchived = errors.New("changes wait to be archived, and the snapshot writer gets nowhere")

const (
	// lookPause is the time between two looks of a Wait.
	lookPause = 100 * time.Millisecond
	// StallTime is how long a Wait lasts without progress.
	StallTime = 3 * time.Minute
)

// Wait polls the snapshot writer's progress. The zero Wait is ready for use.
type Wait[Progress comparable] struct {
	seen  Progress
	since time.Time
}

// Again pauses until the next look. It returns ErrNotArchived when looks have shown the same progress for StallTime, or when ctx ends.
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
