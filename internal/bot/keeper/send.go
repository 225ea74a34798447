package keeper

import (
	"encoding/json"
	"errors"
	"net/http"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/queue"
)

// sendQueued sends what is queued for the guild, in order. It returns false when Levelboard cannot take it now.
func (g *guild) sendQueued() bool {
	var known bool
	g.update(func() { known = g.known })
	if !known {
		return false
	}
	for {
		batch, ok, err := g.k.Queue.Next(g.id)
		if err != nil {
			g.log.Error("the queue cannot be read; check LEVELBOARD_BOT_DATA", "error", err)
			return false
		}
		if !ok {
			return true
		}
		if len(batch.Items) > 0 {
			err = g.sendBatch(batch)
		}
		if api.Passing(err) || errors.Is(err, errAdmin) || errors.Is(err, errKey) {
			if g.k.life.Err() == nil {
				g.log.Warn("messages wait in the queue", "queued", g.k.Queue.Len(), "error", err)
			}
			return false
		}
		outcome := "sent"
		if err != nil {
			outcome = "rejected"
			g.log.Warn("Levelboard does not take these messages; they are dropped", "messages", len(batch.Items), "error", err)
		}
		if batch.Kind == kindMessages {
			messages.WithLabelValues(outcome).Add(float64(len(batch.Items)))
		}
		if err := g.k.Queue.Done(batch); err != nil {
			g.log.Error("a batch that was sent cannot be removed; check LEVELBOARD_BOT_DATA", "error", err)
			return false
		}
	}
}

func (g *guild) sendBatch(b queue.Batch) error {
	items := make([]json.RawMessage, len(b.Items))
	for i, item := range b.Items {
		items[i] = item
	}
	ctx := g.k.sending
	if b.Kind != kindMessages {
		return g.call(ctx, api.Request{
			Method: http.MethodPut, Path: "/v2/guilds/" + g.id + "/presence", Body: object{"present": b.Kind == kindPresent, "userIds": unique(items)},
		}, nil)
	}
	var answer struct {
		Results []struct {
			UserID                string
			LeveledUp             bool
			AddRoles, RemoveRoles []string
		}
	}
	post := api.Request{Method: http.MethodPost, Path: "/v2/guilds/" + g.id + "/messages", Body: object{"messages": items}, Once: b.Name}
	err := g.call(ctx, post, &answer)
	if api.Status(err) == http.StatusNotFound {
		if err = g.remake(ctx, err); err == nil {
			err = g.call(ctx, post, &answer)
		}
	}
	for _, r := range answer.Results {
		if r.LeveledUp || len(r.AddRoles)+len(r.RemoveRoles) > 0 {
			g.noteLevel(r.UserID)
		}
	}
	return err
}

func unique(items []json.RawMessage) []json.RawMessage {
	seen := map[string]bool{}
	var list []json.RawMessage
	for _, item := range items {
		if !seen[string(item)] {
			seen[string(item)] = true
			list = append(list, item)
		}
	}
	return list
}
