package periods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// Event is the data of an event that tells of a closed period, as clients get it and as the guild's log keeps it.
type Event struct {
	ID      string      `json:"id"`
	Kind    period.Kind `json:"kind"`
	Name    *string     `json:"name"` // of a season
	Start   time.Time   `json:"start"`
	End     time.Time   `json:"end"`
	Members int64       `json:"members"`
	Winners []Winner    `json:"winners"`
}

// Winner is a member of the first of a board.
type Winner struct {
	Rank   int64   `json:"rank"`
	UserID id.User `json:"userId"`
	Gained int64   `json:"gained"`
}

// eventOf is the event of a closed period.
func eventOf(c Closed) Event {
	e := Event{ID: c.ID, Kind: c.Kind, Name: c.SeasonName(), Start: c.Begins.UTC(), End: c.Ends.UTC(), Members: c.Members, Winners: []Winner{}}
	for _, w := range c.Winners {
		e.Winners = append(e.Winners, Winner{w.Rank, w.UserID, w.Gained})
	}
	return e
}

// announce puts a closed period into its guild's log of events, at least once: the archive notes it afterwards.
func (c *Closer) announce(ctx context.Context, a Announcement) error {
	text, err := json.Marshal(eventOf(a.Closed))
	if err == nil {
		err = c.inLoaded(ctx, a.Guild, func() error { return c.live.Announce(ctx, a.Guild, text) })
	}
	if err == nil {
		err = c.archive.Announced(ctx, a)
	}
	if err != nil {
		return fmt.Errorf("announce period %s of guild %s: %w", a.ID, a.Guild.ID, err)
	}
	return nil
}

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
