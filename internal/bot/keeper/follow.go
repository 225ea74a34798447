package keeper

import (
	"context"
	"net/http"
	"time"

	"levelboard/internal/bot/api"
)

// firstWait is before the second attempt to follow. The worker does not send before the events of a new guild are followed, unless that takes
// longer than followTime, so that the first level-up is not missed.
const (
	firstWait  = 200 * time.Millisecond
	followTime = 5 * time.Second
)

// follow applies the guild's events until ctx ends. Its place is in the guild's file, so that a restart misses nothing.
func (g *guild) follow(ctx context.Context) {
	for wait := firstWait; ctx.Err() == nil; {
		key := g.keyNow()
		if key == "" { // the worker makes it
			wait = firstWait
		} else {
			opened := time.Now()
			err := g.k.Client.Stream(ctx, key, g.id, g.place(), func(e api.Event) { g.apply(ctx, e) })
			if time.Since(opened) > time.Minute {
				wait = firstWait
			}
			g.log.Debug("the stream of events has ended", "error", err)
			if status := api.Status(err); status == http.StatusUnauthorized || status == http.StatusForbidden {
				_ = g.call(ctx, api.Request{Method: http.MethodGet, Path: "/v2/levels/" + g.id + "?page=1"}, nil) // makes the key again
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, retryTime)
	}
}

func (g *guild) place() (id string) {
	g.update(func() { id = g.state.Event })
	return id
}

func (g *guild) apply(ctx context.Context, e api.Event) {
	first := g.place() == ""
	switch e.Type {
	case "levelup":
		g.noteLevel(e.Data.UserID)
		g.announceLevel(ctx, e)
	case "leveldown", "removed", "returned":
		g.noteLevel(e.Data.UserID)
	case "reset":
		g.catchUp()
	case "period":
		g.announcePeriod(ctx, e.Data)
	}
	if ctx.Err() != nil {
		return // what was cut off is applied again
	}
	if first {
		g.catchUp() // from here on nothing is missed
	}
	if e.ID != "" && e.ID != g.place() {
		g.save(func(s *state) { s.Event = e.ID })
	}
}

func (g *guild) catchUp() {
	g.roles.forgetRewards()
	g.update(func() { g.behind = true })
	g.nudge()
}
