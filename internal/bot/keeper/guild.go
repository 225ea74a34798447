package keeper

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"levelboard/internal/bot/chat"
	"levelboard/internal/platform/pause"
)

// guild is a guild of the chat. Its worker sends what Levelboard is to know. While the bot is in the guild, two more goroutines follow its events,
// and make its roles right.
type guild struct {
	k      *Keeper
	id     string
	log    *slog.Logger
	wake   chan struct{} // the worker's
	uneven chan struct{} // wakes what makes roles right

	making     sync.Mutex // makes one key at a time
	announcing sync.Mutex // guards document
	document   document
	retryAt    time.Time // of the worker, for all but messages
	failing    bool      // the worker's last messages were not taken

	mu      sync.Mutex // guards the rest
	state   state
	arrived time.Time
	leaving context.CancelFunc  // ends what runs while the bot is in the guild; nil when it is not
	sent    map[string][32]byte // hashes of the facts that Levelboard was sent
	changed bool                // facts may not be as they were sent
	watched string              // the roles that matter to managers and to hiding
	admins  map[string]bool     // nil until members were listed
	present map[string]bool     // who came and who left, for Levelboard
	hide    map[string]bool     // who is to be hidden or shown
	behind  bool                // something was missed: compare all members
	drained bool                // Levelboard has the messages of an earlier run
	touched map[string]*chat.Member
	roles   map[string]bool // members whose roles may be wrong
	rewards map[int]rewards // by level
}

func newGuild(k *Keeper, id string) *guild {
	g := &guild{
		k: k, id: id, log: k.Log.With("guild", id), wake: make(chan struct{}, 1), uneven: make(chan struct{}, 1),
		sent: map[string][32]byte{}, present: map[string]bool{}, hide: map[string]bool{}, roles: map[string]bool{}, rewards: map[int]rewards{},
	}
	g.load()
	return g
}

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
	g.update(func() { is = g.leaving != nil })
	return is
}

// arrive begins to follow the guild, or catches up.
func (g *guild) arrive() {
	g.update(func() {
		if g.leaving == nil {
			var ctx context.Context
			ctx, g.leaving = context.WithCancel(g.k.life)
			g.arrived = time.Now()
			clear(g.sent)
			g.k.running.Go(func() { g.follow(ctx) })
			g.k.running.Go(func() { g.alignRoles(ctx) })
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
		}
	})
}

// catchUp has all members compared.
func (g *guild) catchUp() {
	g.update(func() {
		g.behind = true
		clear(g.rewards)
	})
	poke(g.uneven)
}

// noteFacts has the facts sent, and members listed when a role became one that matters.
func (g *guild) noteFacts() {
	facts, _ := g.k.chat.Guild(g.id)
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

// noteMember notes the roles that a member has, and perhaps that they have come.
func (g *guild) noteMember(m chat.Member, came bool) {
	if m.Bot {
		return
	}
	facts, _ := g.k.chat.Guild(g.id)
	g.update(func() {
		if came {
			g.present[m.ID], g.changed = true, true // the number of members
		}
		if g.touched != nil {
			g.touched[m.ID] = &m
		}
		g.noteStanding(facts, m)
	})
}

func (g *guild) noteDeparture(userID string) {
	g.update(func() {
		g.present[userID], g.changed = false, true
		if g.touched != nil {
			g.touched[userID] = nil
		}
		g.noteStanding(chat.Guild{}, chat.Member{ID: userID})
	})
}

// noteStanding notes what a member's roles make them: an administrator, or hidden. g.mu is held.
func (g *guild) noteStanding(facts chat.Guild, m chat.Member) {
	admin, hidden := false, false
	for _, r := range facts.Roles {
		for _, held := range m.Roles {
			if held == r.ID {
				admin, hidden = admin || r.Administrator, hidden || g.k.hides(r)
			}
		}
	}
	if admin = admin && m.ID != facts.OwnerID; g.admins != nil && g.admins[m.ID] != admin {
		g.admins[m.ID], g.changed = admin, true
	}
	if g.state.Hidden[m.ID] != hidden {
		g.hide[m.ID] = hidden
	} else if g.hide[m.ID] != hidden {
		delete(g.hide, m.ID)
	}
}

// retryTime is between two attempts at what failed for good reasons: Levelboard does not know the guild, say.
func (k *Keeper) retryTime() time.Duration { return 15 * k.Tick }

// work is the worker. It does everything that must be in order.
func (g *guild) work() {
	for {
		select {
		case <-g.k.stopping:
			for !g.sendMessages(g.k.sending) && pause.For(g.k.sending, g.k.Tick) {
			}
			return
		case <-g.wake:
		}
		var present map[string]bool // as of now: who has left has no messages that come later
		g.update(func() { present, g.present = g.present, map[string]bool{} })
		here := g.here()
		mayTry := here && time.Now().After(g.retryAt)
		var err error
		if mayTry {
			err = g.sendFacts(g.k.life)
		}
		isSent := false
		if !here || !g.isNew() {
			allSent := g.sendMessages(g.k.life)
			if allSent && mayTry && err == nil {
				err = g.sendPresence(g.k.life, present)
				isSent = err == nil
			}
			if isSent {
				err = g.sendHidden(g.k.life)
			}
			g.update(func() { g.drained = g.drained || allSent })
		}
		if !isSent {
			g.update(func() {
				maps.Copy(present, g.present)
				g.present = present
			})
		}
		if err != nil && g.k.life.Err() == nil {
			g.retryAt = time.Now().Add(g.k.retryTime())
			g.log.Warn("Levelboard and the guild are not alike yet; the bot tries again", "error", err)
		}
	}
}
