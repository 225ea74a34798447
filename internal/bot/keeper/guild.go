package keeper

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"levelboard/internal/bot/chat"
	"levelboard/internal/platform/pause"
)

// guild is a guild of the chat. Its worker sends what Levelboard is to know. While the bot is in the guild, two more goroutines follow its events,
// and make its roles right.
type guild struct {
	k   *Keeper
	id  string
	log *slog.Logger

	making  sync.Mutex // makes one key at a time
	retryAt time.Time  // of the worker, for all but messages
	failing bool       // the worker's last messages were not taken

	mu         sync.Mutex // guards the rest
	state      state
	leaving    context.CancelFunc // ends what runs while the bot is in the guild; nil when it is not
	changed    bool               // facts may not be as they were sent
	told       time.Time          // when they were
	owner      string
	adminRoles map[string]bool
	hideRoles  map[string]bool
	admins     map[string]bool         // nil until members were listed
	present    map[string]bool         // who came and who left, for Levelboard
	hide       map[string]bool         // who is to be hidden or shown
	behind     bool                    // something was missed: compare all members
	drained    bool                    // Levelboard has the messages of an earlier run
	touched    map[string]*chat.Member // who came, changed or left (nil) while members are compared
	roles      map[string]bool         // members whose roles may be wrong
	rewards    map[int]rewards         // by level
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

// firstEvents is how much before its arrival a guild's events begin, as clocks differ.
const firstEvents = time.Second

func newGuild(k *Keeper, id string) *guild {
	g := &guild{
		k: k, id: id, log: k.Log.With("guild", id), state: state{Event: fmt.Sprintf("%d-0", time.Now().Add(-firstEvents).UnixMilli()), Hidden: map[string]bool{}},
		present: map[string]bool{}, hide: map[string]bool{}, roles: map[string]bool{}, rewards: map[int]rewards{},
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

func (g *guild) here() (is bool) {
	g.update(func() { is = g.leaving != nil })
	return is
}

// arrive begins to follow the guild, or catches up.
func (g *guild) arrive() {
	g.update(func() {
		if g.leaving == nil {
			var ctx context.Context
			ctx, g.leaving = context.WithCancel(g.k.life)
			g.k.running.Go(func() { g.follow(ctx) })
			g.k.running.Go(func() { g.alignRoles(ctx) })
			guildsKept.Inc()
		}
	})
	g.noteFacts()
	g.catchUp()
}

func (g *guild) leave() {
	g.update(func() {
		if g.leaving != nil {
			g.leaving()
			g.leaving = nil
			guildsKept.Dec()
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

// noteFacts has the facts sent, and members compared when a role became one that matters.
func (g *guild) noteFacts() {
	facts, _ := g.k.Chat.Guild(g.id)
	admins, hiding := map[string]bool{}, map[string]bool{}
	for _, r := range facts.Roles {
		if r.Administrator {
			admins[r.ID] = true
		}
		if slices.ContainsFunc(g.k.HideRoles, func(named string) bool { return named == r.ID || strings.EqualFold(named, r.Name) }) {
			hiding[r.ID] = true
		}
	}
	g.update(func() {
		g.behind = g.behind || !maps.Equal(admins, g.adminRoles) || !maps.Equal(hiding, g.hideRoles)
		g.changed, g.owner, g.adminRoles, g.hideRoles = true, facts.OwnerID, admins, hiding
	})
}

// noteMember notes what a member's roles make them: an administrator, or hidden. Without m they have left. g.mu is held.
func (g *guild) noteMember(userID string, m *chat.Member) {
	if g.touched != nil {
		g.touched[userID] = m
	}
	var roles []string
	if m != nil {
		roles = m.Roles
	}
	admin := userID != g.owner && slices.ContainsFunc(roles, func(id string) bool { return g.adminRoles[id] })
	if g.admins != nil && g.admins[userID] != admin {
		g.admins[userID], g.changed = admin, true
	}
	hidden := slices.ContainsFunc(roles, func(id string) bool { return g.hideRoles[id] })
	if g.state.Hidden[userID] != hidden {
		g.hide[userID] = hidden
	} else if g.hide[userID] != hidden {
		delete(g.hide, userID)
	}
}

// retryTime is between two attempts at what failed for good reasons: Levelboard does not know the guild, say.
func (k *Keeper) retryTime() time.Duration { return 15 * k.Tick }

// work is the worker.
func (g *guild) work() {
	ticker := time.NewTicker(g.k.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-g.k.stopping:
			for !g.sendMessages(g.k.sending) && pause.For(g.k.sending, g.k.Tick) {
			}
			return
		case <-ticker.C:
			if err := g.send(g.k.life); err != nil && g.k.life.Err() == nil {
				g.retryAt = time.Now().Add(g.k.retryTime())
				g.log.Warn("Levelboard and the guild are not alike yet; the bot tries again", "error", err)
			}
		}
	}
}

// send sends everything that must be in order.
func (g *guild) send(ctx context.Context) (err error) {
	var present map[string]bool // as of now: who has left has no messages that come later
	g.update(func() { present, g.present = g.present, map[string]bool{} })
	defer g.update(func() {
		maps.Copy(present, g.present)
		g.present = present
	})
	mayTry := g.here() && time.Now().After(g.retryAt)
	if mayTry {
		err = g.sendFacts(ctx)
	}
	if !g.sendMessages(ctx) {
		return err
	}
	g.update(func() { g.drained = true })
	if mayTry && err == nil {
		err = g.sendPresence(ctx, present)
	}
	if mayTry && err == nil {
		err = g.sendHidden(ctx)
	}
	return err
}
