package periods

import (
	"context"
	"errors"
	"fmt"

	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// Reset says that followers of a guild have to read its members again.
type Reset struct {
	Guild leaderboard.GuildRef
	Why   events.Reason
}

// tellReset puts a reset into its guild's log of events, at least once: the archive notes it afterwards.
func (c *Closer) tellReset(ctx context.Context, r Reset) error {
	err := c.inLoaded(ctx, r.Guild, func() error { return c.live.AnnounceReset(ctx, r.Guild, r.Why) })
	if err == nil {
		err = c.archive.Told(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("tell of the reset of guild %s: %w", r.Guild.ID, err)
	}
	return nil
}

// inLoaded runs a step on a guild, which it loads when it has to. A deleted guild is left alone, without an error.
func (c *Closer) inLoaded(ctx context.Context, g leaderboard.GuildRef, step func() error) error {
	err := leaderboard.InLoaded(ctx, c.loader, g, step)
	if errors.Is(err, leaderboard.ErrGuildMoved) {
		return nil
	}
	return err
}
