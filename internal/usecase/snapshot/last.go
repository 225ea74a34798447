package snapshot

import (
	"context"
	"errors"
	"fmt"

	"levelboard/internal/usecase/lease"
)

// Flush writes everything that changed until now before a process ends; call Release after it. It returns nil when all is archived, by this
// process or by a living one that holds the lease, and else the first error.
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
		if err := w.round(ctx, true); !errors.Is(err, lease.ErrLost) { // else another one has taken it over
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
