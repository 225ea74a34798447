package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

// replicaPause is the time between two attempts of a last snapshot while too few replicas have its reads.
const replicaPause = 100 * time.Millisecond

// Flush writes all changes made until now, before a process ends; call Release after it. It returns nil when this process, or another one that holds
// the lease, has archived everything, and otherwise the first error. It waits for lagging replicas until ctx ends.
func (w *Writer) Flush(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.unlist()
	for {
		mine, err := w.lease.TakeLast(ctx)
		if err != nil {
			return fmt.Errorf("flush: %w", err)
		}
		if !mine {
			return nil
		}
		w.rounds = 0
		err = w.round(ctx, true)
		switch {
		case errors.Is(err, lease.ErrLost): // another one has taken it over
		case errors.Is(err, leaderboard.ErrNotReplicated) && pause.For(ctx, replicaPause):
		default:
			return err
		}
	}
}

// Release gives the lease up, so that another replica can take it at once.
func (w *Writer) Release(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lease.Release(ctx)
}
