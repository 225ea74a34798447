package snapshot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
)

const (
	// batchSize bounds what one script reads and one transaction writes, and with it the writer's memory, however many
	// members of a guild changed.
	batchSize = 1000
	// guildsAtOnce is how many guilds are written at the same time.
	guildsAtOnce = 4
	// sweepEvery is the number of intervals after which all loaded guilds are looked at, not only those in the index: a
	// replica that was killed between a change and its note in the index leaves a changed guild that nobody mentions.
	sweepEvery = 12
	// tombstoneKeep is far longer than any batch can be under way.
	tombstoneKeep = 24 * time.Hour
	purgeLimit    = 5000
)

// Writer copies changed members to the archive, one writer among all replicas.
type Writer struct {
	live     Live
	archive  Archive
	holder   string
	interval time.Duration
	log      *slog.Logger

	mu        sync.Mutex // one round at a time
	lease     Lease
	held      bool
	lastRound time.Time
	rounds    int
	failing   map[id.Guild]bool // so that a guild that fails in every round is one warning
}

// NewWriter returns a Writer that writes every interval. holder names this process among the replicas.
func NewWriter(live Live, archive Archive, holder string, interval time.Duration, log *slog.Logger) *Writer {
	return &Writer{live: live, archive: archive, holder: holder, interval: interval, log: log, failing: map[id.Guild]bool{}}
}

// Run writes until ctx ends. It renews or tries for the lease four times an interval, so that a dead holder's lease, which
// lasts one and a quarter, passes on within two intervals.
func (w *Writer) Run(ctx context.Context) {
	ticker := time.NewTicker(w.interval / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		w.mu.Lock()
		if w.takeLease(ctx) && time.Since(w.lastRound) >= w.interval {
			w.round(ctx)
		}
		w.mu.Unlock()
	}
}

// Flush writes everything that changed until now, if this process holds the lease or can get it. It returns the first
// error; nil when another replica holds the lease, which then writes.
func (w *Writer) Flush(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	lease, err := w.archive.AcquireLease(ctx, w.holder, w.leaseTime())
	if errors.Is(err, ErrLeaseLost) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	w.lease, w.held = lease, true
	w.rounds = 0 // the last word sweeps
	return w.round(ctx)
}

// Release gives the lease up, so that another replica can go on at once.
func (w *Writer) Release(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.held {
		return nil
	}
	w.held = false
	return w.archive.ReleaseLease(ctx, w.lease)
}

func (w *Writer) leaseTime() time.Duration {
	return max(w.interval+w.interval/4, 100*time.Millisecond)
}

func (w *Writer) takeLease(ctx context.Context) bool {
	lease, err := w.archive.AcquireLease(ctx, w.holder, w.leaseTime())
	switch {
	case err == nil:
		if !w.held || lease.Fence != w.lease.Fence {
			w.rounds = 0 // a new holder sweeps: what the last one had taken out of the index is nowhere else
			w.log.Info("this process writes the snapshots now", "fence", lease.Fence)
		}
		w.lease, w.held = lease, true
	case errors.Is(err, ErrLeaseLost):
		if w.held {
			w.log.Warn("the snapshot lease passed to another replica")
		}
		w.held = false
	case ctx.Err() == nil:
		if w.held {
			w.log.Error("the archive does not answer; changes wait in Redis until it does", "error", err)
		}
		w.held = false
	}
	return w.held
}

// round writes every changed guild once.
func (w *Writer) round(ctx context.Context) error {
	began := time.Now()
	w.lastRound = began
	sweep := w.rounds%sweepEvery == 0
	w.rounds++
	guilds, err := w.changed(ctx, sweep)
	if err != nil {
		w.rounds = 0
		w.log.Error("the changed guilds could not be read from Redis", "error", err)
		return err
	}
	var group errgroup.Group
	group.SetLimit(guildsAtOnce)
	var mu sync.Mutex
	var first error
	for _, g := range guilds {
		mu.Lock()
		thorough := sweep || w.failing[g]
		mu.Unlock()
		group.Go(func() error {
			err := w.writeGuild(ctx, g, thorough)
			mu.Lock()
			defer mu.Unlock()
			w.report(ctx, g, err)
			if err != nil && first == nil {
				first = err
			}
			return nil
		})
	}
	_ = group.Wait()
	if sweep {
		w.purge(ctx)
	}
	duration.Observe(time.Since(began).Seconds())
	return first
}

func (w *Writer) changed(ctx context.Context, sweep bool) ([]id.Guild, error) {
	guilds, err := w.live.DirtyGuilds(ctx)
	if err != nil || !sweep {
		return guilds, err
	}
	return w.live.LoadedGuilds(ctx)
}

// report puts a guild that failed back into the index, and says so once until it works again.
func (w *Writer) report(ctx context.Context, g id.Guild, err error) {
	if err == nil {
		delete(w.failing, g)
		return
	}
	failures.Inc()
	if markErr := w.live.MarkDirty(context.WithoutCancel(ctx), g); markErr != nil {
		w.rounds = 0
	}
	if !w.failing[g] && ctx.Err() == nil {
		w.failing[g] = true
		w.log.Error("a guild could not be written to the archive; it is tried again every interval", "guild", g, "error", err)
	}
}

// writeGuild writes what changed. When it is thorough, it reckons with an earlier flush that was cut off: what that one had
// set aside comes first, and what changed since is in a second set, which must not wait until the guild changes again. And
// it looks whether a guild that has not changed still exists, since no batch of it would ever be refused.
func (w *Writer) writeGuild(ctx context.Context, g id.Guild, thorough bool) error {
	for sets := 1; ; sets++ {
		flush, ok, err := w.live.BeginFlush(ctx, g)
		switch {
		case err != nil:
			return err
		case !ok && thorough && sets == 1 && flush.Guild.ID != "":
			return w.dropIfGone(ctx, flush.Guild)
		case !ok:
			return nil
		}
		err = w.writeFlush(ctx, flush)
		switch {
		case errors.Is(err, ErrStale):
			return w.settleStale(ctx, flush)
		case errors.Is(err, leaderboard.ErrNotLoaded):
			return nil // deleted or loaded anew meanwhile: what was set aside is void
		case err != nil || !thorough || sets == 2:
			return err
		}
	}
}

func (w *Writer) writeFlush(ctx context.Context, f Flush) error {
	renewed := time.Now()
	for cursor := uint64(0); ; {
		users, next, err := w.live.FlushMembers(ctx, f, cursor, batchSize)
		if err != nil {
			return err
		}
		if err := w.writeUsers(ctx, f, users); err != nil {
			return err
		}
		if next == 0 {
			return w.live.EndFlush(ctx, f)
		}
		cursor = next
		if time.Since(renewed) > w.interval/4 {
			if _, err := w.archive.AcquireLease(ctx, w.holder, w.leaseTime()); err != nil {
				return err
			}
			renewed = time.Now()
		}
	}
}

// writeUsers writes in pieces of batchSize: a scan of a set may return more than it was asked for.
func (w *Writer) writeUsers(ctx context.Context, f Flush, users []id.User) error {
	for len(users) > 0 {
		n := min(batchSize, len(users))
		batch, err := w.live.ReadBatch(ctx, f, users[:n])
		if err != nil {
			return err
		}
		if err := w.archive.WriteBatch(ctx, w.lease, batch); err != nil {
			return err
		}
		members.Add(float64(len(batch.Rows)))
		if err := w.live.Archived(ctx, batch); err != nil {
			return err
		}
		users = users[n:]
	}
	return nil
}

// settleStale is for a guild whose batch the archive refused. When the incarnation is gone, so is the guild, and its
// members leave Redis. Otherwise Redis holds an older epoch than the archive, and nothing of it may be written.
func (w *Writer) settleStale(ctx context.Context, f Flush) error {
	state, err := w.archive.State(ctx, f.Guild)
	if errors.Is(err, ErrStale) {
		return w.live.Drop(ctx, f.Guild)
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("guild %s is at epoch %d in Redis and at %d in the archive: %w", f.Guild.ID, f.Epoch, state.Epoch, ErrStale)
}

// purge frees rows piece by piece, for a part of the interval, so that a large deleted guild does not hold up the next round.
// dropIfGone is for a guild that was deleted while Redis could not be told, or in the middle of a hydration.
func (w *Writer) dropIfGone(ctx context.Context, g leaderboard.GuildRef) error {
	_, err := w.archive.State(ctx, g)
	if errors.Is(err, ErrStale) {
		return w.live.Drop(ctx, g)
	}
	return err
}

// A deleted guild leaves Redis first: once the archive has forgotten its incarnation, nobody would look for it there.
func (w *Writer) purge(ctx context.Context) {
	if err := w.dropDeleted(ctx); err != nil {
		if ctx.Err() == nil {
			w.log.Warn("deleted guilds could not be removed from Redis; they are tried again later", "error", err)
		}
		return
	}
	for deadline := time.Now().Add(w.interval / 2); time.Now().Before(deadline); {
		purged, err := w.archive.Purge(ctx, purgeLimit, tombstoneKeep)
		if err != nil && ctx.Err() == nil {
			w.log.Warn("old rows could not be purged from the archive; they are tried again later", "error", err)
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
