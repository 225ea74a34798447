// Package keeper keeps guilds of a chat service and of Levelboard alike: messages and presence go one way, roles and announcements the other. It
// knows Levelboard's public API, and of the chat only what package chat has.
package keeper

import (
	"context"
	"encoding/json"
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

// Options are what a Keeper works with. One of AdminToken and Key is set.
type Options struct {
	Client          *api.Client
	AdminToken, Key string
	PublicURL       string   // what links are built on
	Announce        string   // here, off, or a channel's id
	HideRoles       []string // names or ids
	Store           *store.Store
	Tick            time.Duration // between two batches
	Log             *slog.Logger
}

// Keeper is a chat.Listener. Run must run for it to send anything.
type Keeper struct {
	Options
	Chat chat.Chat // set it before the first event

	life    context.Context // ends at the stop
	running sync.WaitGroup

	mu     sync.Mutex
	guilds map[string]*guild
}

// New returns a Keeper that stops when ctx ends. No event may come after that.
func New(ctx context.Context, o Options) *Keeper {
	return &Keeper{Options: o, life: ctx, guilds: map[string]*guild{}}
}

// Run sends what is queued, once a Tick, until the stop; then all of it, for at most stopTicks.
func (k *Keeper) Run() {
	waiting, err := k.Store.Guilds() // of an earlier run
	if err != nil {
		k.Log.Error("the queue cannot be read; check LEVELBOARD_BOT_DATA", "error", err)
	}
	for _, id := range waiting {
		k.guild(id)
	}
	for pause.For(k.life, k.Tick) {
		k.commit()
	}
	k.commit()
	k.running.Wait()
	if left := k.commit(); left > 0 {
		k.Log.Warn("stopped with messages that Levelboard has not taken; they are kept and sent at the next start", "queued", left)
	}
}

// commit writes what has come to disk. It returns how many messages wait.
func (k *Keeper) commit() int {
	waiting, dropped, err := k.Store.Commit()
	if err != nil {
		k.Log.Error("messages cannot be written to LEVELBOARD_BOT_DATA; those that have come since are lost if the bot dies", "error", err)
	}
	if dropped > 0 {
		messages.WithLabelValues("dropped").Add(float64(dropped))
		k.Log.Warn("the queue was full, the oldest messages were dropped: Levelboard has been away for too long", "dropped", dropped)
	}
	queued.Set(float64(waiting))
	return waiting
}

// guild returns a guild, which sends what is queued for it from now on.
func (k *Keeper) guild(id string) *guild {
	k.mu.Lock()
	defer k.mu.Unlock()
	g := k.guilds[id]
	if g == nil {
		g = newGuild(k, id)
		k.guilds[id] = g
		k.running.Go(g.work)
	}
	return g
}

// Arrived implements chat.Listener.
func (k *Keeper) Arrived(guildID string, members int) { k.guild(guildID).arrive(members) }

// Changed implements chat.Listener.
func (k *Keeper) Changed(guildID string) {
	g := k.guild(guildID)
	g.update(func() { g.changed = true })
}

// Left implements chat.Listener. The queue is sent all the same.
func (k *Keeper) Left(guildID string) { k.guild(guildID).leave() }

// Updated implements chat.Listener.
func (k *Keeper) Updated(guildID string, m chat.Member, joined bool) {
	if m.Bot {
		return
	}
	g := k.guild(guildID)
	g.update(func() {
		if joined {
			g.members, g.changed = g.members+1, true
		}
		g.note(m.ID, &m)
	})
}

// Departed implements chat.Listener.
func (k *Keeper) Departed(guildID, userID string) {
	g := k.guild(guildID)
	g.update(func() {
		g.members, g.changed = g.members-1, true
		g.note(userID, nil)
	})
}

// Wrote implements chat.Listener.
func (k *Keeper) Wrote(m chat.Message) {
	text, err := json.Marshal(message(m))
	if err == nil {
		k.guild(m.GuildID)
		var isNew bool
		if isNew, err = k.Store.Add(m.GuildID, m.ID, text); err == nil && !isNew {
			messages.WithLabelValues("repeated").Inc()
		}
	}
	if err != nil {
		k.Log.Error("a message cannot be queued and is lost; check LEVELBOARD_BOT_DATA", "error", err)
	}
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
