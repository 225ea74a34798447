// Package keeper keeps guilds of a chat service and of Levelboard alike: messages and presence go one way, roles and announcements the other. It
// knows Levelboard's public API, and of the chat only what package chat has.
package keeper

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
	"levelboard/internal/bot/store"
	"levelboard/internal/platform/metrics"
	"levelboard/internal/platform/pause"
)

var (
	messages = metrics.NewCounterVec("levelboard_bot_messages_total",
		"Messages of members: sent, rejected by Levelboard, dropped because the queue was full, repeated by Discord.", "outcome", "sent", "rejected", "dropped", "repeated")
	queued      = metrics.NewGauge("levelboard_bot_queue_messages", "Messages that Levelboard has not taken yet.")
	guildsKept  = metrics.NewGauge("levelboard_bot_guilds", "Guilds that the bot is in.")
	roleResults = metrics.NewCounterVec("levelboard_bot_role_changes_total",
		"Roles given and taken: done, forbidden by missing rights, failed.", "outcome", "done", "forbidden", "failed")
	announced = metrics.NewCounterVec("levelboard_bot_announcements_total",
		"Level-ups and winners: posted, or failed.", "outcome", "posted", "failed")
)

// Collectors are the keeper's metrics.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{messages, queued, guildsKept, roleResults, announced}
}

// Keeper has a listener for each guild. Run must run for them to send anything. One of AdminToken and Key is set.
type Keeper struct {
	Life            context.Context // ends at the stop; no event may come after that
	Client          *api.Client
	Chat            chat.Chat
	AdminToken, Key string
	PublicURL       string   // what links are built on
	Announce        string   // here, off, or a channel's id
	HideRoles       []string // names or ids
	Store           *store.Store
	Tick            time.Duration // between two batches
	Log             *slog.Logger

	running sync.WaitGroup
	mu      sync.Mutex
	guilds  map[string]*guild
}

// Run sends what is queued, once a Tick, until the stop; then all of it, for at most stopTicks.
func (k *Keeper) Run() {
	waiting, err := k.Store.Guilds() // of an earlier run
	if err != nil {
		k.Log.Error("the queue cannot be read; check LEVELBOARD_BOT_DATA", "error", err)
	}
	for _, id := range waiting {
		k.Guild(id)
	}
	for pause.For(k.Life, k.Tick) {
		k.trim()
	}
	k.running.Wait()
	if left := k.trim(); left > 0 {
		k.Log.Warn("stopped with messages that Levelboard has not taken; they are kept and sent at the next start", "queued", left)
	}
}

// trim bounds the queue. It returns how many messages wait.
func (k *Keeper) trim() int {
	waiting, dropped, err := k.Store.Trim()
	if err != nil {
		k.Log.Error("the queue cannot be bounded; check LEVELBOARD_BOT_DATA", "error", err)
	}
	if dropped > 0 {
		messages.WithLabelValues("dropped").Add(float64(dropped))
		k.Log.Warn("the queue was full, the oldest messages were dropped: Levelboard has been away for too long", "dropped", dropped)
	}
	queued.Set(float64(waiting))
	return waiting
}

// Guild returns a guild's listener, which sends what is queued for it from now on.
func (k *Keeper) Guild(id string) chat.Listener {
	k.mu.Lock()
	defer k.mu.Unlock()
	g := k.guilds[id]
	if g == nil {
		g = newGuild(k, id)
		if k.guilds == nil {
			k.guilds = map[string]*guild{}
		}
		k.guilds[id] = g
		k.running.Go(g.work)
	}
	return g
}

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
	KeyID     string          `json:"keyId,omitempty"`
	Key       string          `json:"key,omitempty"` // the API key that the bot made itself
	KeyOwner  string          `json:"keyOwner,omitempty"`
	Event     string          `json:"event"` // the last event that was applied
	Announced []string        `json:"announced,omitempty"`
	Hidden    map[string]bool `json:"hidden"` // users whom the bot hid
}

const (
	levelAge    = 15 * time.Minute // at which level-ups are no news
	firstEvents = time.Second      // how much before its arrival a guild's events begin, as clocks differ
	retryTicks  = 15               // between two attempts at what failed for good reasons: Levelboard does not know the guild, say
	stopTicks   = 10               // how long a stop sends what is queued
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

// Arrived implements chat.Listener.
func (g *guild) Arrived(members int) {
	g.update(func() {
		if !g.here {
			guildsKept.Inc()
		}
		g.here, g.members, g.changed = true, members, true
		clear(g.news)
	})
	g.catchUp()
}

// Changed implements chat.Listener.
func (g *guild) Changed() {
	g.update(func() { g.changed = true })
}

// Left implements chat.Listener. The queue is sent all the same.
func (g *guild) Left() {
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

// Updated implements chat.Listener.
func (g *guild) Updated(m chat.Member, joined bool) {
	g.update(func() {
		if joined {
			g.members, g.changed = g.members+1, true
		}
		if !m.Bot {
			g.note(m.ID, &m)
		}
	})
}

// Departed implements chat.Listener.
func (g *guild) Departed(userID string) {
	g.update(func() {
		g.members, g.changed = g.members-1, true
		g.note(userID, nil)
	})
}

// Wrote implements chat.Listener.
func (g *guild) Wrote(m chat.Message) {
	text, _ := json.Marshal(message(m)) // of texts
	isNew, err := g.k.Store.Add(g.id, m.ID, text)
	switch {
	case err != nil:
		g.log.Error("a message cannot be queued and is lost; check LEVELBOARD_BOT_DATA", "error", err)
	case !isNew:
		messages.WithLabelValues("repeated").Inc()
	}
}

// begin begins to follow the guild's events and to align its roles.
func (g *guild) begin() {
	g.update(func() {
		if g.here && g.stop == nil {
			var ctx context.Context
			ctx, g.stop = context.WithCancel(g.k.Life)
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
