// Package keeper keeps guilds of a chat service and of Levelboard alike: messages and presence go one way, roles and announcements the other. It
// knows Levelboard's public API, and of the chat only what package chat has.
package keeper

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
	"levelboard/internal/bot/store"
)

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
	chat chat.Chat

	life     context.Context // ends at the stop
	sending  context.Context // ends when the stop has no more time
	stopping chan struct{}   // is closed when all that has come is on disk, and the stop has begun
	running  sync.WaitGroup

	mu     sync.Mutex
	guilds map[string]*guild
}

// New returns a Keeper. It takes events when Run has begun.
func New(o Options) *Keeper {
	return &Keeper{Options: o, guilds: map[string]*guild{}, stopping: make(chan struct{})}
}

// stopTicks is how long a stop sends what is queued.
const stopTicks = 10

// Run sends what is queued, once a Tick, until ctx ends; then all of it, for at most stopTicks. No event may come after ctx ended.
// started is called when events may come.
func (k *Keeper) Run(ctx context.Context, c chat.Chat, started func()) error {
	k.chat, k.life = c, ctx
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	k.sending = sending
	waiting, err := k.Store.Guilds() // of an earlier run
	if err != nil {
		return err
	}
	for _, id := range waiting {
		k.guild(id)
	}
	started()
	for tick := time.NewTicker(k.Tick); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
			tick.Stop()
		case <-tick.C:
		}
		k.commit()
		k.nudge()
	}
	timer := time.AfterFunc(stopTicks*k.Tick, stop)
	defer timer.Stop()
	close(k.stopping)
	k.running.Wait()
	if left := k.commit(); left > 0 {
		k.Log.Warn("stopped with messages that Levelboard has not taken; they are kept and sent at the next start", "queued", left)
	}
	return nil
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

// nudge wakes all guilds.
func (k *Keeper) nudge() {
	k.mu.Lock()
	defer k.mu.Unlock()
	here := 0
	for _, g := range k.guilds {
		poke(g.wake)
		poke(g.uneven)
		if g.here() {
			here++
		}
	}
	guildsKept.Set(float64(here))
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
func (k *Keeper) Arrived(guildID string) { k.guild(guildID).arrive() }

// Changed implements chat.Listener.
func (k *Keeper) Changed(guildID string) { k.guild(guildID).noteFacts() }

// Left implements chat.Listener. The queue is sent all the same.
func (k *Keeper) Left(guildID string) { k.guild(guildID).leave() }

// Joined implements chat.Listener.
func (k *Keeper) Joined(guildID string, member chat.Member) {
	k.guild(guildID).noteMember(member, true)
}

// Updated implements chat.Listener.
func (k *Keeper) Updated(guildID string, member chat.Member) {
	k.guild(guildID).noteMember(member, false)
}

// Departed implements chat.Listener.
func (k *Keeper) Departed(guildID, userID string) { k.guild(guildID).noteDeparture(userID) }

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

// mostMemberRoles is how many roles Levelboard takes with a message.
const mostMemberRoles = 250

// message is a message as Levelboard takes it.
func message(m chat.Message) object {
	a := m.Author
	return object{
		"userId": a.ID, "channelId": m.ChannelID, "parentChannelId": orNull(m.ParentID), "roleIds": append([]string{}, a.Roles[:min(mostMemberRoles, len(a.Roles))]...),
		"user": object{"username": a.Username, "globalName": orNull(a.GlobalName), "discriminator": a.Discriminator, "avatar": orNull(a.Avatar)},
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
