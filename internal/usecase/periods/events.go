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

// Event is the data of the event of a closed period, for clients and in the guild's log.
type Event struct {
	ID      string      `json:"id"`
	Kind    period.Kind `json:"kind"`
	Name    *string     `json:"name"` // of a season; else null
	Start   time.Time   `json:"start"`
	End     time.Time   `json:"end"`
	Members int64       `json:"members"`
	Winners []Winner    `json:"winners"`
}

// Winner is one of the first members of a board.
type Winner struct {
	Rank   int64   `json:"rank"`
	UserID id.User `json:"userId"`
	Gained int64   `json:"gained"`
}

// eventOf makes the event of a closed period.
func eventOf(c Closed) Event {
	e := Event{ID: c.ID, Kind: c.Kind, Name: c.SeasonName(), Start: c.Begins.UTC(), End: c.Ends.UTC(), Members: c.Members, Winners: []Winner{}}
	for _, w := range c.Winners {
		e.Winners = append(e.Winners, Winner{w.Rank, w.UserID, w.Gained})
	}
	return e
}

// announce adds a closed period to its guild's log of events, at least once: the archive notes it afterwards.
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

// Reset says that followers of a guild must read its members again.
type Reset struct {
	Guild leaderboard.GuildRef
	Why   events.Reason
}

// tellReset adds a reset to its guild's log of events, at least once: the archive notes it afterwards.
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

// inLoaded runs a step on a guild, and loads the guild if necessary. For a deleted guild it does nothing.
func (c *Closer) inLoaded(ctx context.Context, g leaderboard.GuildRef, step func() error) error {
	err := leaderboard.InLoaded(ctx, c.loader, g, step)
	if errors.Is(err, leaderboard.ErrGuildMoved) {
		return nil
	}
	return err
}
