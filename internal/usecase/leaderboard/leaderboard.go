package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// PageSize is how many members a page holds.
const PageSize = 100

// ErrGuildMoved is a Loader's answer for an incarnation that exists no more: the guild was deleted, or deleted and created
// anew, and the caller's settings are out of date.
var ErrGuildMoved = errors.New("this incarnation of the guild exists no more")

// ErrStillLoading is a Loader's answer when the time of the one who asks is over before all members are there. The load goes on.
var ErrStillLoading = errors.New("the guild is still being loaded")

// Loader gets a guild into the live store, once for all who ask at the same time. It returns ErrGuildMoved for an
// incarnation that the archive does not know, and ErrStillLoading when ctx ends while the members
// are on their way.
type Loader interface {
	Load(ctx context.Context, g GuildRef) error
}

// Settings is where a guild's cached settings are dropped when they turn out to be out of date.
type Settings interface {
	Forget(g id.Guild)
}

// Leaderboard holds the use cases. Its errors are faults. It is safe for concurrent use.
type Leaderboard struct {
	board    Board
	loader   Loader
	settings Settings
	used     func(id.Guild)
	rules    rules
	random   func(n int) int // a uniform whole number from 0 to n-1
}

// Options are what a Leaderboard can be told; the zero value will do.
type Options struct {
	// Used, when set, is called with the guild that a use case is about, whether it reads or changes. It must be safe for
	// concurrent use, and must not wait for anything.
	Used func(g id.Guild)
}

// New returns the use cases on a live store.
func New(board Board, loader Loader, settings Settings, o Options) *Leaderboard {
	if o.Used == nil {
		o.Used = func(id.Guild) {}
	}
	return &Leaderboard{
		board: board, loader: newQueue(loader, maxQueue), settings: settings, used: o.Used, rules: newRules(), random: rand.IntN,
	}
}

// Ref names the incarnation that a guild's settings belong to.
func Ref(g *guild.Guild) GuildRef {
	return GuildRef{ID: g.ID, Incarnation: g.Incarnation}
}

// Member reads a member's entry and rank.
func (l *Leaderboard) Member(ctx context.Context, g *guild.Guild, user id.User) (Ranked, error) {
	var m Ranked
	err := l.loaded(ctx, g, "read a member", func() (err error) {
		m, err = l.board.Member(ctx, Ref(g), user)
		return err
	})
	return m, err
}

// Page reads page number (from 1): ranks PageSize*(number-1)+1 to PageSize*number. Past the last it has no rows, and neither when
// they are those whose Digest is known.
func (l *Leaderboard) Page(ctx context.Context, g *guild.Guild, number int64, known Digest) (Page, error) {
	var p Page
	err := l.loaded(ctx, g, "read a page", func() (err error) {
		p, err = l.board.Page(ctx, Ref(g), PageSize*(number-1), PageSize, known)
		return err
	})
	return p, err
}

// Version reads the version that a page read now would have.
func (l *Leaderboard) Version(ctx context.Context, g *guild.Guild) (Version, error) {
	var v Version
	err := l.loaded(ctx, g, "read a guild's version", func() (err error) {
		v, err = l.board.Version(ctx, Ref(g))
		return err
	})
	return v, err
}

// Create makes an entry for a member that has none; a Conflict fault, with nothing changed, when it has one, or when another
// request was made under the same key.
func (l *Leaderboard) Create(ctx context.Context, g *guild.Guild, user id.User, c Creation) (Outcome, error) {
	c.Curve = &g.Curve
	var out Outcome
	err := l.loaded(ctx, g, "create a member", func() (err error) {
		out, err = l.board.Create(ctx, Ref(g), user, c)
		return err
	})
	return out, err
}

// Change applies one atomic change to a member's XP; a Conflict fault when another request was made under the same key.
func (l *Leaderboard) Change(ctx context.Context, g *guild.Guild, user id.User, c Change) (Outcome, error) {
	c.Curve = &g.Curve
	var out Outcome
	err := l.loaded(ctx, g, "change a member", func() (err error) {
		out, err = l.board.Change(ctx, Ref(g), user, c)
		return err
	})
	return out, err
}

// Delete removes a member's entry; a Conflict fault when another request was made under the same key. replayed says that
// this request removed it before, and nothing now.
func (l *Leaderboard) Delete(ctx context.Context, g *guild.Guild, user id.User, once Once) (replayed bool, err error) {
	err = l.loaded(ctx, g, "delete a member", func() (err error) {
		replayed, err = l.board.Delete(ctx, Ref(g), user, once)
		return err
	})
	return replayed, err
}

// loadAttempts bounds how often one request loads its guild: a guild that is gone again each time it was loaded is being
// evicted or deleted, and the client is better off with a 503 than with a loop.
const loadAttempts = 3

// loaded runs one step on the live store. ErrNotLoaded means that nothing was changed, so the step is repeated after the
// guild was loaded; no other failure is ever repeated, because the change may have happened.
func (l *Leaderboard) loaded(ctx context.Context, g *guild.Guild, op string, step func() error) error {
	l.used(g.ID)
	for attempt := 1; ; attempt++ {
		err := step()
		if !errors.Is(err, ErrNotLoaded) || attempt == loadAttempts {
			return asFault(op, err)
		}
		err = l.loader.Load(ctx, Ref(g))
		if errors.Is(err, ErrGuildMoved) {
			// The permissions of this request were judged by settings that are no longer true, so it has to begin again.
			l.settings.Forget(g.ID)
			return &fault.Error{Code: fault.Unavailable, Message: "This guild was just changed. Try again.", Cause: err, RetryAfter: time.Second}
		}
		if errors.Is(err, ErrStillLoading) {
			return &fault.Error{
				Code: fault.Unavailable, Cause: fmt.Errorf("load the guild to %s: %w", op, err), RetryAfter: 2 * time.Second,
				Message: "This guild is being loaded, which takes some seconds when it is large. Nothing was changed: try again in a few seconds.",
			}
		}
		if err != nil {
			return fault.Down("load the guild to "+op, err)
		}
	}
}

func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNoMember):
		return fault.Wrap(err, fault.NotFound, "This user has no level entry in the guild. Create it with POST, or send the user's messages to /v2/guilds/{guildId}/messages.")
	case errors.Is(err, ErrMemberExists):
		return fault.Wrap(err, fault.Conflict, "This user has a level entry in the guild already. Use PATCH to change it.")
	case errors.Is(err, ErrKeyReused):
		return fault.Wrap(err, fault.Conflict, "This Idempotency-Key was given to another request within the last 24 hours. Send a new key with a new request.")
	case errors.Is(err, ErrNotReplicated):
		return &fault.Error{
			Code: fault.Unavailable, Cause: fmt.Errorf("%s: %w", op, err), RetryAfter: time.Second,
			Message: "Too few replicas of the storage have this change. It may last and it may not: repeat the request with its Idempotency-Key, or look before you do.",
		}
	default:
		return fault.Down(op, err)
	}
}
