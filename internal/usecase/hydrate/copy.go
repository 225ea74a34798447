package hydrate

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// hydrationPage is how many members one query reads. A page or two are in memory, less than 1 MB each, whatever the guild's size.
const hydrationPage = 2000

// copyMembers loads all members into the staging keys and returns how many. While one page is loaded, the next one is read.
// Its reads need no transaction around them: the raised epoch keeps every writer of an earlier one out.
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
