package keeper

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"levelboard/internal/bot/chat"
)

// The kinds of what is queued.
const (
	kindMessages = "messages"
	kindPresent  = "present"
	kindAbsent   = "absent"
)

// guild is a guild of the chat. Its worker sends, one request at a time; two more goroutines follow its events and change roles while the bot
// is in the guild.
type guild struct {
	k    *Keeper
	id   string
	log  *slog.Logger
	wake chan struct{} // the worker's

	roles      roleChanges
	retryAfter time.Time  // the worker's next attempt after a failure
	since      time.Time  // when the guild was set up
	sent       facts      // what Levelboard was sent last
	making     sync.Mutex // makes one key at a time

	announcing sync.Mutex // guards document
	document   document

	mu      sync.Mutex // guards the rest
	state   state
	present bool               // the bot is in the guild
	leaving context.CancelFunc // ends what runs while it is
	known   bool               // it is set up in Levelboard
	behind  bool               // something was missed: reconcile
	changed bool               // facts have changed
	resend  bool               // all facts are to be sent again
	watched string             // the roles that matter to managers and to hiding
	admins  map[string]bool
	listed  bool            // admins is complete
	touched map[string]bool // who came or left while members are being listed; nil when they are not
	hide    map[string]bool // who is to be hidden or shown
}

func newGuild(k *Keeper, id string) *guild {
	g := &guild{
		k: k, id: id, log: k.Log.With("guild", id), wake: make(chan struct{}, 1),
		admins: map[string]bool{}, hide: map[string]bool{},
	}
	g.roles.dirty, g.roles.wake = map[string]*chat.Member{}, make(chan struct{}, 1)
	g.load()
	return g
}

func (g *guild) nudge() { poke(g.wake) }

func poke(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// update changes what g.mu guards.
func (g *guild) update(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

func (g *guild) here() (is bool) {
	g.update(func() { is = g.present })
	return is
}

// arrive begins to follow the guild, or catches up.
func (g *guild) arrive() {
	g.update(func() {
		g.behind, g.changed = true, true
		if !g.present {
			g.present = true
			var ctx context.Context
			ctx, g.leaving = context.WithCancel(g.k.life)
			g.k.running.Go(func() { g.follow(ctx) })
			g.k.running.Go(func() { g.changeRoles(ctx) })
		}
	})
	g.noteFacts()
}

func (g *guild) leave() {
	g.update(func() {
		if g.present {
			g.leaving()
		}
		g.present, g.behind, g.changed, g.resend = false, false, false, true
	})
}

// noteFacts notes that the guild's facts have changed. When a role became one that matters, members are listed again.
func (g *guild) noteFacts() {
	facts, here := g.k.chat.Guild(g.id)
	if !here {
		return
	}
	watched := ""
	for _, r := range facts.Roles {
		if r.Administrator || g.k.hides(r) {
			watched += r.ID + " "
		}
	}
	g.update(func() {
		g.changed = true
		if g.watched != watched {
			g.watched, g.behind = watched, true
		}
	})
}

func (g *guild) notePresence(userID string, present bool) {
	kind := kindAbsent
	if present {
		kind = kindPresent
	}
	g.update(func() {
		if g.touched != nil {
			g.touched[userID] = true
		}
		g.changed = true // the number of members
		g.queuePresence(kind, userID)
	})
}

func (g *guild) queuePresence(kind, userID string) {
	item, _ := json.Marshal(userID) // a string can always be encoded
	g.k.Queue.Add(g.id, kind, item)
}

// noteMember notes the roles that a member has, or none of one who left: whether they are an administrator, and are to be hidden.
func (g *guild) noteMember(m chat.Member) {
	facts, _ := g.k.chat.Guild(g.id)
	admin, hidden := g.standing(facts, m)
	g.update(func() {
		if g.admins[m.ID] != admin {
			g.setAdmin(m.ID, admin)
			g.changed = true
		}
		if g.state.Hidden[m.ID] != hidden {
			g.hide[m.ID] = hidden
		} else {
			delete(g.hide, m.ID)
		}
	})
}

func (g *guild) setAdmin(userID string, admin bool) {
	if admin {
		g.admins[userID] = true
	} else {
		delete(g.admins, userID)
	}
}

// standing reports what a member's roles make them.
func (g *guild) standing(facts chat.Guild, m chat.Member) (admin, hidden bool) {
	for _, r := range facts.Roles {
		for _, held := range m.Roles {
			if held == r.ID {
				admin, hidden = admin || r.Administrator, hidden || g.k.hides(r)
			}
		}
	}
	return admin && m.ID != facts.OwnerID, hidden
}

// work is the worker. It does everything that must be in order.
func (g *guild) work() {
	for {
		select {
		case <-g.k.stopping:
			g.sendQueued()
			return
		case <-g.wake:
		}
		if time.Now().Before(g.retryAfter) {
			g.sendQueued() // messages wait for nothing else
			continue
		}
		if err := g.step(g.k.life); err != nil && g.k.life.Err() == nil {
			g.retryAfter = time.Now().Add(retryTime)
			g.log.Warn("Levelboard and the guild are not alike yet; the bot tries again", "error", err)
		}
	}
}

// retryTime is between two attempts at what failed for good reasons: Levelboard does not know the guild, say.
const retryTime = 15 * time.Second

func (g *guild) step(ctx context.Context) error {
	var known, changed, behind bool
	g.update(func() { known, changed, behind = g.known, g.changed, g.behind })
	here := g.here()
	if !known && (here || g.k.AdminToken == "" || g.keyNow() != "") {
		if err := g.setUp(ctx, here); err != nil {
			return err
		}
		g.since = time.Now()
	}
	if here && g.place() == "" && time.Since(g.since) < followTime || !g.sendQueued() || !here {
		return nil
	}
	if changed {
		if err := g.sendFacts(ctx); err != nil {
			return err
		}
	}
	if err := g.sendHidden(ctx); err != nil {
		return err
	}
	if behind && g.k.Queue.Empty(g.id) {
		g.update(func() { g.behind = false })
		if err := g.reconcile(ctx); err != nil {
			g.update(func() { g.behind = true })
			return err
		}
	}
	return nil
}
