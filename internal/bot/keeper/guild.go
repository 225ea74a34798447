package keeper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
	"levelboard/internal/bot/store"
	"levelboard/internal/platform/pause"
)

// guild is a guild of the chat. Its worker sends what Levelboard is to know. Once that has worked, two more goroutines follow the guild's events and
// make its roles right, while the bot is in the guild.
type guild struct {
	k   *Keeper
	id  string
	log *slog.Logger

	retryAt time.Time // of the worker, for all but messages

	mu         sync.Mutex // guards the rest
	state      state
	here       bool               // the bot is in the guild
	stop       context.CancelFunc // ends following and aligning; nil when they do not run
	members    int
	facts      chat.Guild // as last read; without an owner before that
	adminRoles map[string]bool
	hideRoles  map[string]bool
	changed    bool                    // the facts must be read and sent
	told       time.Time               // when they were
	refused    string                  // a key that Levelboard did not take
	admins     map[string]bool         // nil until members were listed
	news       map[string]*chat.Member // who came, changed or left (nil), for Levelboard
	listing    bool                    // members are listed, and news wait
	behind     bool                    // something was missed: compare all members
	roles      map[string]bool         // members whose roles may be wrong
	rewards    map[int]map[string]bool // by level, -1 for none: all rewards, and whether one has them
}

// state is what the store keeps of a guild.
type state struct {
	KeyID    string `json:"keyId,omitempty"`
	Key      string `json:"key,omitempty"` // the API key that the bot made itself
	KeyOwner string `json:"keyOwner,omitempty"`

	Event     string          `json:"event"` // the last event that was applied
	Announced []string        `json:"announced,omitempty"`
	Hidden    map[string]bool `json:"hidden"` // users whom the bot hid
}

const (
	firstEvents = time.Second // how much before its arrival a guild's events begin, as clocks differ
	retryTicks  = 15          // between two attempts at what failed for good reasons: Levelboard does not know the guild, say
	stopTicks   = 10          // how long a stop sends what is queued
)

func newGuild(k *Keeper, id string) *guild {
	g := &guild{
		k: k, id: id, log: k.Log.With("guild", id), state: state{Event: fmt.Sprintf("%d-0", time.Now().Add(-firstEvents).UnixMilli()), Hidden: map[string]bool{}},
		news: map[string]*chat.Member{}, roles: map[string]bool{}, rewards: map[int]map[string]bool{},
	}
	if err := k.Store.State(id, &g.state); err != nil {
		g.log.Error("what is stored of the guild cannot be read: the bot makes a new key, and users whom it hid stay hidden", "error", err)
	}
	return g
}

// update changes what g.mu guards.
func (g *guild) update(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

// save changes the state and writes it.
func (g *guild) save(change func(*state)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.state)
	if err := g.k.Store.SaveState(g.id, g.state); err != nil {
		g.log.Error("what the bot must remember of the guild cannot be written; check LEVELBOARD_BOT_DATA", "error", err)
	}
}

// now returns a copy of the state, but for Hidden.
func (g *guild) now() (now state) {
	g.update(func() { now = g.state })
	return now
}

// known returns the facts as last read.
func (g *guild) known() (facts chat.Guild) {
	g.update(func() { facts = g.facts })
	return facts
}

// arrive has all that is known of the guild read and sent anew.
func (g *guild) arrive(members int) {
	g.update(func() {
		if !g.here {
			guildsKept.Inc()
		}
		g.here, g.members, g.changed = true, members, true
		clear(g.news)
	})
	g.catchUp()
}

func (g *guild) leave() {
	g.update(func() {
		if g.here {
			guildsKept.Dec()
		}
		if g.stop != nil {
			g.stop()
		}
		g.here, g.stop, g.facts = false, nil, chat.Guild{}
	})
}

// begin begins to follow the guild's events and to align its roles.
func (g *guild) begin() {
	g.update(func() {
		if g.here && g.stop == nil {
			var ctx context.Context
			ctx, g.stop = context.WithCancel(g.k.life)
			g.k.running.Go(func() { g.follow(ctx) })
			g.k.running.Go(func() { g.alignRoles(ctx) })
		}
	})
}

// catchUp has all members compared.
func (g *guild) catchUp() {
	g.update(func() {
		g.behind = true
		clear(g.rewards)
	})
}

// note notes a member for Levelboard, or that one has left (nil). g.mu is held.
func (g *guild) note(userID string, m *chat.Member) {
	g.news[userID] = m
	if admin := hasOne(m, g.adminRoles); g.admins != nil && g.admins[userID] != admin {
		g.admins[userID], g.changed = admin, true
	}
}

// hasOne reports whether a member is there and has one of the roles.
func hasOne(m *chat.Member, roles map[string]bool) bool {
	return m != nil && slices.ContainsFunc(m.Roles, func(id string) bool { return roles[id] })
}

// work is the worker.
func (g *guild) work() {
	pause.Again(g.k.life, func() time.Duration { return g.k.Tick }, g.send, func(err error) {
		g.log.Warn("the guild is not yet up to date in Levelboard or in Discord; the bot tries again", "error", err)
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(g.k.life), stopTicks*g.k.Tick)
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
	if waiting := g.sendMessages(ctx); waiting != nil || !mayTry {
		return errors.Join(waiting, err)
	}
	if err == nil {
		err = g.sendMembers(ctx, news)
	}
	if err != nil {
		g.retryAt = time.Now().Add(retryTicks * g.k.Tick)
		return err
	}
	g.begin()
	return nil
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
	post := api.Request{
		Method: http.MethodPost, Path: "/v2/guilds/" + g.id + "/messages", Body: object{"messages": json.RawMessage(b.Messages)}, Once: b.Name,
	}
	err := g.call(ctx, post, &answer)
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
