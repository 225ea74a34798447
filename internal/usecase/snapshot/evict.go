package snapshot

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// evictIdle returns how long a guild must have no noted use before it counts as idle. It is longer
// than idle by the time that may pass between two notes, so that no guild used within idle leaves.
func evictIdle(idle time.Duration) time.Duration { return idle + idle/noteEvery }

// evict removes idle guilds from the live store, for a part of the interval, and returns the others for the next round. A guild may have
// changed since the survey, so evict asks the archive again, and the script that evicts checks that the guild is still as the archive holds it.
func (w *Writer) evict(ctx context.Context, cold []Quiet) (rest []Quiet) {
	var gone atomic.Int64
	deadline := time.Now().Add(w.interval / 4)
	group, first := errgroup.WithContext(ctx) // the first error cancels this context
	group.SetLimit(groupsAtOnce)
	for len(cold) > 0 && first.Err() == nil && time.Now().Before(deadline) {
		c := cold[0]
		cold = cold[1:]
		group.Go(func() error {
			evicted, err := w.evictGuild(first, c)
			if evicted {
				gone.Add(1)
			}
			return err
		})
	}
	err := group.Wait()
	if err != nil {
		cold = nil // the next sweep finds them again
	}
	if err != nil && ctx.Err() == nil {
		w.log.WarnContext(ctx, "unused guilds could not be evicted from Redis; they are retried within about a minute: check Redis and the archive", "error", err)
	}
	if n := gone.Load(); n > 0 {
		evicted.Add(float64(n))
		loaded := *w.loaded.Load() - int(n)
		w.loaded.Store(&loaded)
		w.log.InfoContext(ctx, "unused guilds were evicted from Redis; their next request loads them", "guilds", n)
	}
	return cold
}

func (w *Writer) evictGuild(ctx context.Context, c Quiet) (gone bool, err error) {
	state, err := w.archive.State(ctx, c.Guild)
	if errors.Is(err, ErrStale) {
		return false, nil // the guild was deleted, so Purge drops it
	}
	if err != nil || state.Epoch != c.State.Epoch || state.Archived != c.State.Archived {
		return false, err
	}
	return w.live.Evict(ctx, c, evictIdle(w.idle))
}

// Purge deletes data that nothing needs any more, as Run does in each sweep, for a part of the interval. A deleted guild
// leaves Redis first: after the archive has dropped its incarnation, nothing would find it there. Purge needs no lease.
func (w *Writer) Purge(ctx context.Context) {
	if err := w.dropDeleted(ctx); err != nil {
		if ctx.Err() == nil {
			w.log.WarnContext(ctx, "deleted guilds could not be removed from Redis; they are retried within about a minute: check Redis and the archive", "error", err)
		}
		return
	}
	for deadline := time.Now().Add(w.interval / 2); time.Now().Before(deadline); {
		purged, err := w.archive.Purge(ctx, purgeLimit, Keep{Tombstones: tombstoneKeep, Requests: w.requests, History: w.history, Audit: w.audit})
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "old rows could not be purged from the archive; they are retried within about a minute: check the archive", "error", err)
		}
		if err != nil || purged < purgeLimit {
			return
		}
	}
}

func (w *Writer) dropDeleted(ctx context.Context) error {
	deleted, err := w.archive.Deleted(ctx, purgeLimit)
	if err != nil {
		return err
	}
	for _, g := range deleted {
		if err := w.live.Drop(ctx, g); err != nil {
			return err
		}
	}
	return nil
}
