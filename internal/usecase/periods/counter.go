package periods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// countTime bounds one count, however many requests wait for it: a million members take less than a minute.
	countTime = 5 * time.Minute
	// countAttempts bounds how often one step is repeated whose members keep changing.
	countAttempts = 100
)

// Counter is a leaderboard.Counter. Close it.
type Counter struct {
	live    leaderboard.Counting
	archive Archive
	flights singleflight.Group
	ctx     context.Context
	cancel  context.CancelFunc
}

// NewCounter returns a Counter between two stores.
func NewCounter(live leaderboard.Counting, archive Archive) *Counter {
	ctx, cancel := context.WithCancel(context.Background())
	return &Counter{live: live, archive: archive, ctx: ctx, cancel: cancel}
}

// Close ends what is being counted. What was half counted nobody reads.
func (c *Counter) Close() { c.cancel() }

// Count implements leaderboard.Counter: once for all requests that ask at the same time. Two replicas that count the same period do no harm,
// since each member's sum is made of what the archive has and the entry has, in one step.
func (c *Counter) Count(ctx context.Context, g leaderboard.GuildRef, p period.Period) error {
	done := c.flights.DoChan(fmt.Sprintf("%s/%d/%s", g.ID, g.Incarnation, p.ID), func() (any, error) {
		ctx, cancel := context.WithTimeout(c.ctx, countTime)
		defer cancel()
		return nil, c.count(ctx, g, p)
	})
	select {
	case result := <-done:
		return result.Err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", leaderboard.ErrStillCounting, ctx.Err())
	}
}

// count asks for the members whose changes wait for a snapshot first: one that is archived meanwhile is found in the archive then.
func (c *Counter) count(ctx context.Context, g leaderboard.GuildRef, p period.Period) error {
	needed, err := c.live.BeginCount(ctx, g, p)
	if err != nil || !needed {
		return err
	}
	users := func(users []id.User) error { return c.countUsers(ctx, g, p, users) }
	if err := c.live.UnsavedUsers(ctx, g, users); err != nil {
		return err
	}
	for after := id.User(""); ; {
		found, err := c.archive.Gainers(ctx, g, p.First, p.End, after, 4*leaderboard.MaxCounted)
		if err != nil {
			return fmt.Errorf("count a period: %w", err)
		}
		if len(found) == 0 {
			break
		}
		if err := users(found); err != nil {
			return err
		}
		after = found[len(found)-1]
	}
	err = c.live.EndCount(ctx, g, p)
	if errors.Is(err, leaderboard.ErrNotCounted) {
		return nil // another one is read then, and begins again
	}
	return err
}

func (c *Counter) countUsers(ctx context.Context, g leaderboard.GuildRef, p period.Period, users []id.User) error {
	for part := range slices.Chunk(users, leaderboard.MaxCounted) {
		sums := make([]leaderboard.Sum, len(part))
		for i, user := range part {
			sums[i].User = user
		}
		for attempt := 0; len(sums) > 0; attempt++ {
			var err error
			if sums, err = c.live.CountMembers(ctx, g, p, sums); err != nil {
				return err
			}
			if attempt == countAttempts {
				return fmt.Errorf("count a period: the days of %d members keep changing", len(sums))
			}
			if err := c.ask(ctx, g, p, sums); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask adds what the archive has.
func (c *Counter) ask(ctx context.Context, g leaderboard.GuildRef, p period.Period, sums []leaderboard.Sum) error {
	if len(sums) == 0 {
		return nil
	}
	users, without := make([]id.User, len(sums)), make([][]period.Day, len(sums))
	for i, s := range sums {
		users[i], without[i] = s.User, s.Without
	}
	gained, err := c.archive.Sums(ctx, g, p.First, p.End, users, without)
	if err != nil {
		return fmt.Errorf("count a period: %w", err)
	}
	for i := range sums {
		if !sums[i].Fresh {
			sums[i].Gained = gained[i]
		}
	}
	return nil
}
