package snapshot

import (
	"context"
	"time"
)

// Purge deletes data that nothing needs any more, as Run does in each sweep: in pieces, for a part of the interval, so that a large deleted guild
// does not hold up the next round. A deleted guild leaves Redis first: once the archive has forgotten its incarnation, nobody would look for it
// there. It needs no lease.
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
