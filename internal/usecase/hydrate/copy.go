package hydrate

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// hydrationPage is how many members one query reads. At most two pages are in memory, less than 1 MB each, whatever the guild's size.
const hydrationPage = 2000

// copyMembers loads all members into the staging keys and returns how many. While it loads one page, it reads the next.
// The reads need no transaction: since the epoch was raised, no writer of an earlier epoch can change the archive.
func (h *Hydrator) copyMembers(ctx context.Context, lock *Lock, boards *period.Boards, last period.Day) (members int, err error) {
	group, ctx := errgroup.WithContext(ctx)
	pages := make(chan []snapshot.Row)
	group.Go(func() error {
		defer close(pages)
		return h.readPages(ctx, lock.Guild, boards, last, pages)
	})
	group.Go(func() error {
		for rows := range pages {
			lock.add(rows)
			if err := h.live.LoadChunk(ctx, *lock, rows); err != nil {
				return fmt.Errorf("hydrate guild %s: load members: %w", lock.Guild.ID, err)
			}
			members += len(rows)
		}
		return nil
	})
	err = group.Wait()
	return members, err
}

func (h *Hydrator) readPages(ctx context.Context, g leaderboard.GuildRef, boards *period.Boards, last period.Day, pages chan<- []snapshot.Row) error {
	var after id.User
	for {
		rows, err := h.archive.Members(ctx, g, after, hydrationPage)
		if errors.Is(err, snapshot.ErrStale) {
			return leaderboard.ErrGuildMoved
		}
		if err == nil && last > 0 && len(rows) > 0 {
			err = h.archive.AddGains(ctx, g, rows, last, boards)
		}
		if err != nil {
			return fmt.Errorf("hydrate guild %s: read members: %w", g.ID, err)
		}
		if len(rows) > 0 {
			after = rows[len(rows)-1].UserID
			select {
			case pages <- rows:
			case <-ctx.Done():
				return fmt.Errorf("hydrate guild %s: %w", g.ID, ctx.Err())
			}
		}
		if len(rows) < hydrationPage {
			return nil
		}
	}
}

// CopyHidden copies changed flags of hidden users from the archive to a loaded guild. If it fails, the next caller that
// knows of the change does it: for that caller, a guild with older flags counts as not loaded (leaderboard.GuildRef).
func (h *Hydrator) CopyHidden(ctx context.Context, g leaderboard.GuildRef) error {
	_, err := h.copyHidden(ctx, g)
	return err
}

// copyHidden copies missing flags, part by part. done is false if the guild is no longer loaded.
func (h *Hydrator) copyHidden(ctx context.Context, g leaderboard.GuildRef) (done bool, err error) {
	if g.Hidden == 0 {
		return true, nil
	}
	has, err := h.live.CopyHidden(ctx, g, hidden.Part{})
	for err == nil && has < g.Hidden {
		var part hidden.Part
		if part, err = h.archive.HiddenAfter(ctx, g.ID, has); err == nil && part.Upto <= has {
			return true, leaderboard.ErrGuildMoved // the archive lost the change, or the guild was created again
		}
		if err == nil {
			has, err = h.live.CopyHidden(ctx, g, part)
		}
	}
	switch {
	case errors.Is(err, leaderboard.ErrNotLoaded):
		return false, nil
	case errors.Is(err, guild.ErrNotFound):
		return true, leaderboard.ErrGuildMoved
	case err != nil:
		return false, fmt.Errorf("copy the flags of hidden users of guild %s: %w", g.ID, err)
	}
	return true, nil
}
