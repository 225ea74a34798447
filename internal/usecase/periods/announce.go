package periods

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
)

// announced is how many periods one look announces.
const announced = 100

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

// EventOf is the event of a closed period.
func EventOf(c Closed) Event {
	e := Event{ID: c.ID, Kind: c.Kind, Name: c.SeasonName(), Start: c.Begins.UTC(), End: c.Ends.UTC(), Members: c.Members, Winners: []Winner{}}
	for _, w := range c.Winners {
		e.Winners = append(e.Winners, Winner{w.Rank, w.UserID, w.Gained})
	}
	return e
}

// announce puts closed periods into the guilds' logs of events, each at least once: the archive notes it afterwards.
func (c *Closer) announce(ctx context.Context) error {
	waiting, err := c.archive.Unannounced(ctx, announced)
	if err != nil {
		return err
	}
	var first error
	for _, a := range waiting {
		if err := c.announceOne(ctx, a); err != nil && first == nil {
			first = fmt.Errorf("announce period %s of guild %s: %w", a.ID, a.Guild.ID, err)
		}
	}
	return first
}

func (c *Closer) announceOne(ctx context.Context, a Announcement) error {
	text, err := json.Marshal(EventOf(a.Closed))
	if err != nil {
		return err
	}
	err = c.inLoaded(ctx, a.Guild, func() error { return c.live.Announce(ctx, a.Guild, text) })
	if err != nil {
		return err
	}
	return c.archive.Announced(ctx, a)
}
