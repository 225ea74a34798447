// Package keeper keeps guilds of a chat service and of Levelboard alike: messages and presence go one way, roles and announcements the other. It
// knows Levelboard's public API, and of the chat only what package chat has.
package keeper

import (
	"context"
	"log/slog"
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
