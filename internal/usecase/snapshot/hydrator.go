package snapshot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"levelboard/internal/platform/logs"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// hydrationTimeout bounds one load, however many requests wait for it; each of them waits no longer than its own deadline.
	hydrationTimeout = 5 * time.Minute
	// A replica looks again whether another one is done with the same guild after busyWait, then after twice that, and so
	// on up to busyWaitMost: each look costs the archive a query.
	busyWait     = 10 * time.Millisecond
	busyWaitMost = 500 * time.Millisecond
)

// Hydrator loads guilds from the archive into the live store. It is the one way in which a guild gets there. Close it.
type Hydrator struct {
	live    Live
	archive Archive
	log     *slog.Logger
	bad     badRows

	flights singleflight.Group
	loading sync.Map // the leaderboard.GuildRef of each guild whose members are on their way, from here or from another replica
	ctx     context.Context
	cancel  context.CancelFunc
	mu      sync.Mutex // guards closed against running.Add
	closed  bool
	running sync.WaitGroup
}

// NewHydrator returns a Hydrator between two stores.
func NewHydrator(live Live, archive Archive, log *slog.Logger) *Hydrator {
	ctx, cancel := context.WithCancel(context.Background())
	return &Hydrator{live: live, archive: archive, log: log, bad: badRows{log: log}, ctx: ctx, cancel: cancel}
}

// Close ends what is loading and waits for it. A guild that was half loaded is not visible to anybody.
func (h *Hydrator) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.running.Wait()
}

// Load loads the guild if the live store does not hold this incarnation. However many ask at the same time, here or on
// other replicas, one of them loads and the others wait, each until its own deadline, when
// it is leaderboard.ErrStillLoading if the members are on their way. leaderboard.ErrGuildMoved when the archive does not know the incarnation.
func (h *Hydrator) Load(ctx context.Context, g leaderboard.GuildRef) error {
	done := h.flights.DoChan(fmt.Sprintf("%s/%d", g.ID, g.Incarnation), func() (any, error) {
		if !h.enter() {
			return nil, context.Canceled
		}
		defer h.running.Done()
		defer h.loading.Delete(g)
		// Detached from the request that happened to be first, but for its name in the log and its trace: its deadline is not
		// that of the others who wait.
		traced, span := h.traced(ctx)
		defer span.End()
		ctx, cancel := context.WithTimeout(logs.With(traced, logs.Attrs(ctx)...), hydrationTimeout)
		defer cancel()
		return nil, h.load(ctx, g)
	})
	select {
	case result := <-done:
		return result.Err
	case <-ctx.Done():
		cause := ctx.Err()
		if _, loading := h.loading.Load(g); loading { // else it may be a store that is silent
			cause = fmt.Errorf("%w: %w", leaderboard.ErrStillLoading, cause)
		}
		return fmt.Errorf("wait for the hydration of guild %s: %w", g.ID, cause)
	}
}

// Past implements leaderboard.Loader.
func (h *Hydrator) Past(ctx context.Context, g leaderboard.GuildRef, name leaderboard.Digest) (*leaderboard.Past, error) {
	return h.archive.Past(ctx, g, name)
}

func (h *Hydrator) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.running.Add(1)
	return true
}

func (h *Hydrator) load(ctx context.Context, g leaderboard.GuildRef) error {
	for wait := busyWait; ; wait = min(2*wait, busyWaitMost) {
		done, err := h.attempt(ctx, g)
		if done || (err != nil && !errors.Is(err, ErrHydrationLost)) {
			return err
		}
		if !pause.For(ctx, wait) {
			return fmt.Errorf("hydrate guild %s: %w", g.ID, ctx.Err())
		}
	}
}

// attempt loads the guild if it can take the lock. done is false when somebody else is at it.
//
// The epoch is read before the lock is taken and raised only from what was read: a replica that was held up after it took
// the lock, for so long that another one loaded the guild meanwhile, cannot raise the epoch behind that one's back, which
// would shut the writer out of a guild that is in use.
func (h *Hydrator) attempt(ctx context.Context, g leaderboard.GuildRef) (done bool, err error) {
	before, err := h.archive.State(ctx, g)
	if errors.Is(err, ErrStale) {
		return true, leaderboard.ErrGuildMoved
	}
	if err != nil {
		return false, fmt.Errorf("hydrate guild %s: %w", g.ID, err)
	}
	lock, found, err := h.live.BeginHydration(ctx, g, before)
	if err == nil && (found == FoundLoaded || found == FoundBusy) {
		if found == FoundBusy {
			h.loading.Store(g, true)
		}
		return found == FoundLoaded, nil
	}
	if other := map[Found]error{FoundEarlierFormat: ErrEarlierFormat, FoundLaterFormat: ErrLaterFormat}[found]; err == nil && other != nil {
		return false, fmt.Errorf("hydrate guild %s: %w", g.ID, other) // without a lock to give up
	}
	defer func() {
		if !done {
			h.abort(ctx, lock)
		}
	}()
	if err != nil {
		return false, fmt.Errorf("hydrate guild %s: %w", g.ID, err)
	}
	switch found {
	case FoundUnverified:
		return h.verify(ctx, lock, before)
	case FoundNewer:
		return false, fmt.Errorf("hydrate guild %s: %w", g.ID, ErrArchiveOlder)
	case FoundOlder:
		switch err := h.salvage(ctx, lock, before); {
		case errors.Is(err, ErrStale):
			return false, nil // the archive has moved on: the next attempt finds out where to
		case err != nil:
			return false, err
		}
	}
	return h.hydrate(ctx, lock, before)
}

func (h *Hydrator) abort(ctx context.Context, lock Hydration) {
	// The request may be over, or only the answer was lost, yet the lock should not wait for its expiry.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := h.live.AbortHydration(ctx, lock); err != nil {
		h.log.WarnContext(ctx, "a hydration's lock could not be given up; nothing to do, it expires within seconds", "guild", lock.Guild.ID, "error", err)
	}
}

// hydrate loads all members. done is false when the epoch moved on meanwhile: the guild was deleted, or another replica was
// faster, and the next attempt finds out which.
func (h *Hydrator) hydrate(ctx context.Context, lock Hydration, before State) (done bool, err error) {
	began := time.Now()
	state, err := h.archive.RaiseEpoch(ctx, lock.Guild, before, 0)
	if errors.Is(err, ErrStale) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("hydrate guild %s: %w", lock.Guild.ID, err)
	}
	h.loading.Store(lock.Guild, true)
	members, err := h.copyMembers(ctx, lock)
	if err != nil {
		return false, err
	}
	lock.LastDay, err = h.archive.LastDay(ctx, lock.Guild)
	if err != nil {
		return false, fmt.Errorf("hydrate guild %s: %w", lock.Guild.ID, err)
	}
	if err := h.live.CommitHydration(ctx, lock, state); err != nil {
		return false, fmt.Errorf("hydrate guild %s: commit: %w", lock.Guild.ID, err)
	}
	hydrations.Inc()
	took := time.Since(began)
	hydrationDuration.Observe(took.Seconds())
	h.log.InfoContext(ctx, "guild loaded from the archive", "guild", lock.Guild.ID, "members", members, "epoch", state.Epoch, "took", took)
	return true, nil
}
