package keeper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
	"levelboard/internal/bot/store"
	"levelboard/internal/platform/pause"
)

// work is the worker.
func (g *guild) work() {
	pause.Again(g.k.Life, func() time.Duration { return g.k.Tick }, g.send, func(err error) {
		g.log.Warn("the guild is not yet up to date in Levelboard or in Discord; the bot tries again", "error", err)
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(g.k.Life), stopTicks*g.k.Tick)
	defer cancel()
	for g.sendMessages(ctx) != nil && pause.For(ctx, g.k.Tick) {
	}
}

// send sends everything that must be in order. Messages are tried again at the next tick, all else after retryTicks.
func (g *guild) send(ctx context.Context) (err error) {
	news, mayTry := map[string]*chat.Member{}, false
	g.update(func() {
		if !g.listing { // as of now: who has left has no messages that come later
			news, g.news = g.news, news
		}
		mayTry = g.here && time.Now().After(g.retryAt)
	})
	defer g.update(func() {
		maps.Copy(news, g.news)
		g.news = news
	})
	if mayTry {
		err = g.sendFacts(ctx)
	}
	waiting := g.sendMessages(ctx)
	if mayTry && waiting == nil && err == nil {
		g.begin()
		err = g.sendMembers(ctx, news)
	}
	if err != nil {
		g.retryAt = time.Now().Add(retryTicks * g.k.Tick)
	}
	return errors.Join(waiting, err)
}

// sendMessages sends the messages that wait, in order, unless Levelboard cannot take them now.
func (g *guild) sendMessages(ctx context.Context) error {
	for {
		batch, err := g.k.Store.Next(g.id)
		if err != nil {
			return fmt.Errorf("the queue cannot be read; check LEVELBOARD_BOT_DATA: %w", err)
		}
		if batch.Count == 0 {
			return nil
		}
		err = g.sendBatch(ctx, batch)
		if api.Passing(err) || refused(err) && !errors.Is(err, errGrant) {
			return fmt.Errorf("messages wait in the queue: %w", err)
		}
		outcome := "sent"
		if err != nil {
			outcome = "rejected"
			g.log.Warn("Levelboard does not take these messages; they are dropped", "messages", batch.Count, "error", err)
		}
		messages.WithLabelValues(outcome).Add(float64(batch.Count))
		if err := g.k.Store.Done(g.id, batch); err != nil {
			return fmt.Errorf("a batch that was sent cannot be removed; check LEVELBOARD_BOT_DATA: %w", err)
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
	err := g.call(ctx, api.Request{
		Method: http.MethodPost, Path: "/v2/guilds/" + g.id + "/messages", Body: object{"messages": json.RawMessage(b.Messages)}, Once: b.Name,
	}, &answer)
	if api.Status(err) == http.StatusNotFound { // it was deleted, or its leveling is off
		isNew, makeErr := g.make(ctx)
		if isNew || makeErr != nil {
			return cmp.Or(makeErr, errNew)
		}
		return errors.Join(errNoList, err)
	}
	for _, r := range answer.Results {
		if r.LeveledUp || len(r.AddRoles)+len(r.RemoveRoles) > 0 {
			g.noteRoles(r.UserID)
		}
	}
	return err
}

type object = map[string]any

// message is a message as Levelboard takes it.
func message(m chat.Message) object {
	a := m.Author
	return object{
		"userId": a.ID, "channelId": m.ChannelID, "parentChannelId": orNull(m.ParentID), "roleIds": append([]string{}, a.Roles...),
		"user": object{"username": a.Username, "globalName": orNull(a.GlobalName), "discriminator": a.Discriminator, "avatar": orNull(a.Avatar)},
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
