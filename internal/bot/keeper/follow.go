package keeper

import (
	"context"
	"net/http"
	"time"

	"levelboard/internal/bot/api"
	"levelboard/internal/platform/pause"
)

const (
	firstWait  = 200 * time.Millisecond // before the second attempt to follow
	followTime = 10 * time.Second       // how long the messages of a new guild wait for its events, so that the first level-up is not missed
)

// isNew reports whether the guild's first messages have to wait.
func (g *guild) isNew() (is bool) {
	g.update(func() { is = g.state.Event == "" && time.Since(g.arrived) < followTime })
	return is
}

// follow applies the guild's events until ctx ends. Its place is stored, so that a restart misses nothing.
func (g *guild) follow(ctx context.Context) {
	for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, g.k.retryTime()) {
		key := g.key()
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
				_ = g.get(ctx, "/v2/levels/"+g.id+"?page=1", nil) // makes the key again
			}
		}
		pause.For(ctx, wait)
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
		g.noteRoles(e.Data.UserID)
		g.announceLevel(ctx, e)
	case "leveldown", "removed", "returned":
		g.noteRoles(e.Data.UserID)
	case "period":
		g.announcePeriod(ctx, e.Data)
	}
	if ctx.Err() != nil {
		return // what was cut off is applied again
	}
	if first || e.Type == "reset" {
		g.catchUp() // from here on nothing is missed
	}
	if e.ID != "" && e.ID != g.place() {
		g.save(func(s *state) { s.Event = e.ID })
	}
}
