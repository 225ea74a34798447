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
	"levelboard/internal/bot/queue"
)

// Options are what a Keeper works with. One of AdminToken and Key is set.
type Options struct {
	Client          *api.Client
	AdminToken, Key string
	PublicURL       string   // what links are built on
	Announce        string   // here, off, or a channel's id
	HideRoles       []string // names or ids
	Dir             string   // where it keeps a file for each guild
	Queue           *queue.Queue
	Seen            *queue.Seen
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

// stopTime is how long a stop sends what is queued.
const stopTime = 10 * time.Second

// Run sends what is queued, once a second, until ctx ends; then all of it, for at most stopTime. No event may come after ctx ended.
// started is called when events may come.
func (k *Keeper) Run(ctx context.Context, c chat.Chat, started func()) {
	k.chat = c
	k.life = ctx
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	k.sending = sending
	for _, id := range k.Queue.Guilds() { // of an earlier run
		k.guild(id)
	}
	started()
	for tick := time.NewTicker(time.Second); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
			tick.Stop()
		case <-tick.C:
		}
		k.flush()
		for _, g := range k.all() {
			g.nudge()
		}
	}
	timer := time.AfterFunc(stopTime, stop)
	defer timer.Stop()
	close(k.stopping)
	k.running.Wait()
	k.flush()
	if left := k.Queue.Len(); left > 0 {
		k.Log.Warn("stopped with messages that Levelboard has not taken; they are kept and sent at the next start", "queued", left)
	}
}

// flush writes what has come to disk.
func (k *Keeper) flush() {
	dropped, err := k.Queue.Flush()
	if err == nil {
		err = k.Seen.Flush()
	}
	if err != nil {
		k.Log.Error("messages cannot be written to LEVELBOARD_BOT_DATA; those that have come since are lost if the bot dies", "error", err)
	}
	if dropped > 0 {
		messages.WithLabelValues("dropped").Add(float64(dropped))
		k.Log.Warn("the queue was full, the oldest messages were dropped: Levelboard has been away for too long", "dropped", dropped)
	}
	queued.Set(float64(k.Queue.Len()))
}

func (k *Keeper) all() []*guild {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]*guild, 0, len(k.guilds))
	here := 0
	for _, g := range k.guilds {
		all = append(all, g)
		if g.here() {
			here++
		}
	}
	guildsKept.Set(float64(here))
	return all
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
	if !member.Bot {
		g := k.guild(guildID)
		g.notePresence(member.ID, true)
		g.noteMember(member)
	}
}

// Updated implements chat.Listener.
func (k *Keeper) Updated(guildID string, member chat.Member) {
	if !member.Bot {
		k.guild(guildID).noteMember(member)
	}
}

// Departed implements chat.Listener.
func (k *Keeper) Departed(guildID, userID string) {
	g := k.guild(guildID)
	g.notePresence(userID, false)
	g.noteMember(chat.Member{ID: userID})
}

// Wrote implements chat.Listener.
func (k *Keeper) Wrote(m chat.Message) {
	if m.Author.Bot {
		return
	}
	if !k.Seen.Add(m.ID) {
		messages.WithLabelValues("repeated").Inc()
		return
	}
	item, err := json.Marshal(message(m))
	if err != nil {
		k.Log.Error("a message cannot be encoded", "error", err)
		return
	}
	k.guild(m.GuildID)
	k.Queue.Add(m.GuildID, kindMessages, item)
}

type object = map[string]any

// message is a message as Levelboard takes it.
func message(m chat.Message) object {
	a := m.Author
	roles := a.Roles
	if len(roles) > 250 {
		roles = roles[:250]
	}
	written := object{"userId": a.ID, "channelId": m.ChannelID, "roleIds": append([]string{}, roles...), "user": object{
		"username": a.Username, "globalName": orNull(a.GlobalName), "discriminator": a.Discriminator, "avatar": orNull(a.Avatar),
	}}
	if m.ParentID != "" {
		written["parentChannelId"] = m.ParentID
	}
	return written
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
