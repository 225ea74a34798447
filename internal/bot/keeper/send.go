package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
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
		if api.Passing(err) || refused(err) && !errors.Is(err, errGrant) {
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
		isNew, makeErr := g.make(ctx)
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

// sendMembers sends who is present and who is hidden, and forgets the news.
func (g *guild) sendMembers(ctx context.Context, news map[string]*chat.Member) error {
	lists := map[bool][]string{}
	for userID, m := range news {
		lists[m != nil] = append(lists[m != nil], userID)
	}
	for present, all := range lists {
		for some := range slices.Chunk(all, mostAtOnce) {
			if err := g.put(ctx, "/presence", object{"present": present, "userIds": some}); err != nil {
				return err
			}
		}
	}
	if err := g.hideMembers(ctx, news); err != nil {
		return err
	}
	clear(news)
	return nil
}

// The flags that hide a user.
const (
	byManager = "manager"
	bySelf    = "self"
)

// hideMembers hides and shows whom their roles say. The bot notes whom it hides before it does, so that it lifts each flag that it set. A flag that
// is there already is a manager's, or it is noted.
func (g *guild) hideMembers(ctx context.Context, news map[string]*chat.Member) error {
	wanted := map[string]bool{}
	g.update(func() {
		for userID, m := range news {
			if hidden := hasOne(m, g.hideRoles); hidden || g.state.Hidden[userID] {
				wanted[userID] = hidden
			}
		}
	})
	if len(wanted) == 0 {
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
	for userID, hidden := range wanted {
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
	}
	return nil
}

func (g *guild) setHidden(ctx context.Context, userID, by string, hidden bool, reason string) error {
	return g.call(ctx, api.Request{
		Method: http.MethodPut, Path: "/v2/guilds/" + g.id + "/hidden", Reason: reason,
		Body: object{"hidden": hidden, "by": by, "userIds": []string{userID}},
	}, nil)
}
