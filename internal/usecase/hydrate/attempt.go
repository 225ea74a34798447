package hydrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// attempt loads the guild if it can take the lock. done is false if another replica holds the lock.
//
// It reads the epoch before it takes the lock, and raises it only from that value. So a replica that was delayed after it took
// the lock, while another one loaded the guild, cannot raise the epoch: that would shut the writer out of a guild in use.
func (h *Hydrator) attempt(ctx context.Context, g leaderboard.GuildRef) (done bool, err error) {
	before, err := h.archive.State(ctx, g)
	if errors.Is(err, snapshot.ErrStale) {
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
	if err == nil && found == FoundOtherFormat {
		return false, fmt.Errorf("hydrate guild %s: %w", g.ID, errOtherFormat) // no lock was taken
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
		return false, fmt.Errorf("hydrate guild %s: %w", g.ID, errArchiveOlder)
	case FoundOlder:
		switch err := h.salvage(ctx, lock, before); {
		case errors.Is(err, snapshot.ErrStale):
			return false, nil // the archive has a newer state, which the next attempt reads
		case err != nil:
			return false, err
		}
	}
	return h.hydrate(ctx, lock, before)
}

// verify puts a guild back into use after its server was restarted or replaced. The guild must hold all archived changes. Like every
// load, it raises the epoch, so that a batch read from the server before cannot be committed: it may hold changes that this server lacks.
func (h *Hydrator) verify(ctx context.Context, lock Lock, before snapshot.State) (done bool, err error) {
	state, err := h.archive.RaiseEpoch(ctx, lock.Guild, before, lock.Rev)
	if errors.Is(err, snapshot.ErrStale) {
		return false, nil // such a batch was committed before, or the guild was deleted; the next attempt finds out
	}
	if err == nil {
		err = h.live.Verified(ctx, lock, state)
	}
	if err != nil {
		return false, fmt.Errorf("verify guild %s: %w", lock.Guild.ID, err)
	}
	h.log.DebugContext(ctx, "guild verified: the live store holds all that is archived", "guild", lock.Guild.ID, "epoch", state.Epoch)
	return true, nil
}

// salvage merges a guild's unarchived changes into the archive, before the guild is loaded again. This is needed if Redis came back
// from an old dump or as a lagging replica. Each member keeps the higher XP. If it is cut off, a repetition has the same result.
func (h *Hydrator) salvage(ctx context.Context, lock Lock, before snapshot.State) error {
	wentBack.Inc()
	merged := 0
	err := h.live.Unsaved(ctx, lock, func(b snapshot.Batch) error {
		b, err := h.withoutErased(ctx, b)
		if err != nil {
			return err
		}
		merged += len(b.Rows) - len(b.Gone())
		return h.archive.Salvage(ctx, before, h.bad.Good(b))
	})
	if err != nil {
		return fmt.Errorf("salvage guild %s: %w", lock.Guild.ID, err)
	}
	h.log.ErrorContext(ctx, "Redis has gone back in time: it lacks archived members; the guild is loaded again from the archive. "+
		"Find out why Redis lost data: see docs/durability.md",
		"guild", lock.Guild.ID, "archivedEpoch", before.Epoch, "archivedRev", before.Archived, "unsavedMembersKept", merged)
	return nil
}

// hydrate loads all members. done is false if the epoch was raised meanwhile: the
// guild was deleted, or another replica was faster. The next attempt finds out which.
func (h *Hydrator) hydrate(ctx context.Context, lock Lock, before snapshot.State) (done bool, err error) {
	began := time.Now()
	state, err := h.archive.RaiseEpoch(ctx, lock.Guild, before, Reloaded)
	if errors.Is(err, snapshot.ErrStale) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("hydrate guild %s: %w", lock.Guild.ID, err)
	}
	h.loading.Store(lock.Guild, true)
	boards, last, err := h.boardsOf(ctx, &lock)
	if err != nil {
		return false, fmt.Errorf("hydrate guild %s: %w", lock.Guild.ID, err)
	}
	members, err := h.copyMembers(ctx, &lock, boards, last)
	if err != nil {
		return false, err
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

func (h *Hydrator) abort(ctx context.Context, lock Lock) {
	// The request may be over, or only the answer was lost, but the lock should not stay until it expires.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := h.live.AbortHydration(ctx, lock); err != nil {
		h.log.WarnContext(ctx, "a hydration's lock could not be released; nothing to do, it expires within seconds", "guild", lock.Guild.ID, "error", err)
	}
}
