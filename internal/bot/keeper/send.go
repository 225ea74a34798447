package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/store"
)

// sendMessages sends the messages that wait, in order. It returns false when Levelboard cannot take them now.
func (g *guild) sendMessages(ctx context.Context) bool {
	for {
		batch, err := g.k.Store.Next(g.id)
		if err != nil {
			g.log.Error("the queue cannot be read; check LEVELBOARD_BOT_DATA", "error", err)
			return false
		}
		if batch.Count == 0 {
			g.failing = false
			return true
		}
		err = g.sendBatch(ctx, batch)
		if api.Passing(err) || errors.Is(err, errAdmin) || errors.Is(err, errKey) {
			if !g.failing && g.k.life.Err() == nil {
				g.log.Warn("messages wait in the queue", "error", err)
			}
			g.failing = true
			return false
		}
		outcome := "sent"
		if err != nil {
			outcome = "rejected"
			g.log.Warn("Levelboard does not take these messages; they are dropped", "messages", batch.Count, "error", err)
		}
		messages.WithLabelValues(outcome).Add(float64(batch.Count))
		if err := g.k.Store.Done(g.id, batch); err != nil {
			g.log.Error("a batch that was sent cannot be removed; check LEVELBOARD_BOT_DATA", "error", err)
			return false
		}
	}
}

func (g *guild) sendBatch(ctx context.Context, b store.Batch) error {
	var answer struct {
		Results []struct {
			UserID                string
			LeveledUp             bool
			AddRoles, RemoveRoles []string
		}
	}
	post := api.Request{
		Method: http.MethodPost, Path: "/v2/guilds/" + g.id + "/messages", Body: object{"messages": json.RawMessage(b.Messages)}, Once: b.Name,
	}
	err := g.call(ctx, post, &answer)
	if api.Status(err) == http.StatusNotFound { // it was deleted, or its leveling is off
		isNew, makeErr := g.make(ctx, "")
		switch {
		case makeErr != nil:
			err = makeErr
		case isNew:
			err = g.call(ctx, post, &answer)
		default:
			err = errors.Join(errNoList, err)
		}
	}
	for _, r := range answer.Results {
		if r.LeveledUp || len(r.AddRoles)+len(r.RemoveRoles) > 0 {
			g.noteRoles(r.UserID)
		}
	}
	return err
}

// mostAtOnce is how many users one call may name.
const mostAtOnce = 1000

// sendPresence sends who came and who left, and forgets them.
func (g *guild) sendPresence(ctx context.Context, present map[string]bool) error {
	lists := map[bool][]string{}
	for userID, is := range present {
		lists[is] = append(lists[is], userID)
	}
	for is, all := range lists {
		for some := range slices.Chunk(all, mostAtOnce) {
			if err := g.put(ctx, "/presence", object{"present": is, "userIds": some}); err != nil {
				return err
			}
		}
	}
	clear(present)
	return nil
}

// The flags that hide a user.
const (
	byManager = "manager"
	bySelf    = "self"
)

// sendHidden hides and shows whom their roles say. The bot notes whom it hides before it does, so that it lifts each flag that it set. A flag that is
// there already is a manager's, or it is noted.
func (g *guild) sendHidden(ctx context.Context) error {
	var all map[string]bool
	g.update(func() { all = maps.Clone(g.hide) })
	if len(all) == 0 {
		return nil
	}
	rows, err := g.hiddenRows(ctx)
	if err != nil {
		return err
	}
	flagged := map[string]bool{}
	for _, r := range rows {
		flagged[r.UserID] = slices.Contains(r.By, byManager)
	}
	for userID, hidden := range all {
		if hidden && !flagged[userID] {
			g.save(func(s *state) { s.Hidden[userID] = true })
		}
		if hidden != flagged[userID] {
			if err := g.setHidden(ctx, userID, byManager, hidden, ""); err != nil {
				return err
			}
		}
		if !hidden {
			g.save(func(s *state) { delete(s.Hidden, userID) })
		}
		g.update(func() {
			if g.hide[userID] == hidden {
				delete(g.hide, userID)
			}
		})
	}
	return nil
}

func (g *guild) setHidden(ctx context.Context, userID, by string, hidden bool, reason string) error {
	return g.call(ctx, api.Request{
		Method: http.MethodPut, Path: "/v2/guilds/" + g.id + "/hidden", Reason: reason,
		Body: object{"hidden": hidden, "by": by, "userIds": []string{userID}},
	}, nil)
}
