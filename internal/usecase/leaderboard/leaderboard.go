package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/cached"
	"levelboard/internal/usecase/audit"
)

// PageSize is how many members a page holds.
const PageSize = 100

// ErrGuildMoved means that the incarnation no longer exists: the caller's settings are out of date.
var ErrGuildMoved = errors.New("this incarnation of the guild exists no more")

// ErrStillLoading means that the caller's time ended before all members were loaded. The load continues.
var ErrStillLoading = errors.New("the guild is still being loaded")

// ErrOtherPeriods means that the guild already has the boards of all its running
// periods: the caller's settings are out of date, or its clock is behind.
var ErrOtherPeriods = errors.New("other periods run in the guild")

// Loader loads a guild into the live store, once for all concurrent callers. It returns ErrGuildMoved
// for an incarnation that the archive does not know, and ErrStillLoading if ctx ends first.
type Loader interface {
	Load(ctx context.Context, g GuildRef) error
	// LoadBoards loads a guild again if it lacks boards of running periods. If
	// it lacks none, it returns ErrOtherPeriods. Other errors are those of Load.
	LoadBoards(ctx context.Context, g GuildRef) error
	// Past reads the archive's record of a named request.
	Past(ctx context.Context, g GuildRef, name Digest) (*Past, error)
}

// InLoaded runs a step on the live store. If the store does not hold the guild, it loads the guild and runs the step again.
func InLoaded(ctx context.Context, loader Loader, g GuildRef, step func() error) error {
	err := step()
	if errors.Is(err, ErrNotLoaded) {
		if err = loader.Load(ctx, g); err == nil {
			err = step()
		}
	}
	return err
}

// Settings drops a guild's cached settings when they turn out to be out of date.
type Settings interface {
	Forget(g id.Guild)
}

// Leaderboard holds the use cases. Its errors are faults. It is safe for concurrent use.
type Leaderboard struct {
	board    Board
	loader   Loader
	loading  *semaphore.Weighted // held by each request that waits for its guild to be loaded
	settings Settings
	used     func(id.Guild)
	hide     func(ctx context.Context, g id.Guild, flag hidden.Flags, users []id.User) error
	rules    *lru.Cache[guild.Incarnation, rules]
	days     *lru.Cache[guild.Incarnation, days]
	random   func(n int) int // returns a uniform whole number from 0 to n-1
}

// Options configure a Leaderboard. The zero value is valid.
type Options struct {
	// Used, when set, is called with the guild of each use case. It must be safe for concurrent use and must not block.
	Used func(g id.Guild)
	// Hide sets a flag of at most hidden.MaxStep users, for imports. Its errors are faults.
	Hide func(ctx context.Context, g id.Guild, flag hidden.Flags, users []id.User) error
}

// New returns the use cases on a live store.
func New(board Board, loader Loader, settings Settings, o Options) *Leaderboard {
	if o.Used == nil {
		o.Used = func(id.Guild) {}
	}
	return &Leaderboard{
		board: board, loader: loader, loading: semaphore.NewWeighted(maxLoading), settings: settings, used: o.Used, hide: o.Hide, random: rand.IntN,
		rules: cached.NewLRU[guild.Incarnation, rules](rulesKept), days: cached.NewLRU[guild.Incarnation, days](rulesKept),
	}
}

// Ref returns the incarnation that a guild's settings belong to.
func Ref(g *guild.Guild) GuildRef {
	return GuildRef{ID: g.ID, Incarnation: g.Incarnation, Hidden: g.Hidden}
}

// Member reads a member's entry and rank.
func (l *Leaderboard) Member(ctx context.Context, g *guild.Guild, user id.User) (Ranked, error) {
	return loaded(ctx, l, g, "read a member", func() (Ranked, error) { return l.board.Member(ctx, Ref(g), user) })
}

// Stored reads the entries of at most 1000 users, on the board or not. Users without one are left out.
func (l *Leaderboard) Stored(ctx context.Context, g *guild.Guild, users []id.User) ([]Member, error) {
	return loaded(ctx, l, g, "read entries", func() ([]Member, error) { return l.board.Stored(ctx, Ref(g), users) })
}

// Page reads page number (from 1). It has no rows past the last page.
func (l *Leaderboard) Page(ctx context.Context, g *guild.Guild, number int64) (Page, error) {
	return loaded(ctx, l, g, "read a page", func() (Page, error) { return l.board.Page(ctx, Ref(g), PageSize*(number-1), PageSize) })
}

// rows reads members from a position (0-based) on.
func (l *Leaderboard) rows(ctx context.Context, g *guild.Guild, offset, limit int64) ([]Ranked, error) {
	page, err := loaded(ctx, l, g, "read a page", func() (Page, error) { return l.board.Page(ctx, Ref(g), offset, limit) })
	return page.Rows, err
}

// View reads pages and members, in one round trip.
func (l *Leaderboard) View(ctx context.Context, g *guild.Guild, look Look) (View, error) {
	return loaded(ctx, l, g, "look at a board", func() (View, error) { return l.board.View(ctx, Ref(g), look) })
}

// Version reads the version that a page read now would have.
func (l *Leaderboard) Version(ctx context.Context, g *guild.Guild) (Version, error) {
	return loaded(ctx, l, g, "read a guild's version", func() (Version, error) { return l.board.Version(ctx, Ref(g)) })
}

// Create creates an entry for a member without one. It returns a Conflict
// fault if the member has one, or if the key named another request before.
func (l *Leaderboard) Create(ctx context.Context, g *guild.Guild, user id.User, c Creation) (Outcome, error) {
	c.Curve, c.Days, c.Audit = &g.Curve, l.daysOf(g), audit.EntryOf(ctx, audit.Entry{Action: audit.Created, UserID: user})
	return made(ctx, l, g, "create a member", &c.Once, func() (Outcome, error) { return l.board.Create(ctx, Ref(g), user, c) })
}

// Change applies one atomic change to a member's XP. It returns a Conflict fault if the key named another request before.
func (l *Leaderboard) Change(ctx context.Context, g *guild.Guild, user id.User, c Change) (Outcome, error) {
	c.Curve, c.Days = &g.Curve, l.daysOf(g)
	if c.Op != Increment || c.Amount >= g.AuditIncrementsFrom {
		c.Audit = audit.EntryOf(ctx, audit.Entry{Action: changeActions[c.Op], UserID: user})
	}
	return made(ctx, l, g, "change a member", &c.Once, func() (Outcome, error) { return l.board.Change(ctx, Ref(g), user, c) })
}

// changeActions maps changes to the actions of the audit log.
var changeActions = map[Op]audit.Action{Increment: audit.Incremented, Decrement: audit.Decremented, Set: audit.Set}

// Delete removes a member's entry. It returns a Conflict fault if the key named another request before. replayed reports an earlier removal.
func (l *Leaderboard) Delete(ctx context.Context, g *guild.Guild, user id.User, once Once) (replayed bool, err error) {
	r := Removal{Days: l.daysOf(g), Once: once, Audit: audit.EntryOf(ctx, audit.Entry{Action: audit.Deleted, UserID: user})}
	return made(ctx, l, g, "delete a member", &r.Once, func() (bool, error) { return l.board.Delete(ctx, Ref(g), user, r) })
}

const (
	// loadAttempts bounds how often one request loads its guild. A guild that is gone again each time is being evicted or deleted.
	loadAttempts = 3
	// maxLoading is how many requests may wait for guilds to be loaded: half of all, so that a large guild does not block the others.
	maxLoading = 1024
)

var errQueueFull = errors.New("too many requests wait for guilds to be loaded")

// made runs a step that changes something, as loaded does. If the live store may have lost the record of the request that once names, made first
// reads the archive's record. A load of the guild makes that record stale, so made reads it once for each epoch.
func made[T any](ctx context.Context, l *Leaderboard, g *guild.Guild, op string, once *Once, step func() (T, error)) (T, error) {
	return loaded(ctx, l, g, op, func() (T, error) {
		once.Past = nil // Redis may have lost changes since the archive's record was read
		for {
			result, err := step()
			var ask AskArchive
			if !errors.As(err, &ask) || once.Past != nil && once.Past.Epoch == ask.Epoch {
				return result, err
			}
			if once.Past, err = l.loader.Past(ctx, Ref(g), once.Key); err != nil {
				return result, err
			}
			once.Past.Epoch = ask.Epoch
		}
	})
}

// loaded runs one step on the live store. After ErrNotLoaded and ErrNoBoard, which mean that nothing was changed, it loads
// the guild and repeats the step. It never repeats the step after another error, since the change may have happened.
func loaded[T any](ctx context.Context, l *Leaderboard, g *guild.Guild, op string, step func() (T, error)) (T, error) {
	l.used(g.ID)
	for attempt := 1; ; attempt++ {
		result, err := step()
		noBoard := errors.Is(err, ErrNoBoard)
		if !noBoard && !errors.Is(err, ErrNotLoaded) || attempt == loadAttempts {
			return result, asFault(op, err)
		}
		load := l.loader.Load
		if noBoard {
			load = l.loader.LoadBoards
		}
		if err := l.load(ctx, g, op, load); err != nil {
			return result, err
		}
	}
}

const beingLoaded = "This guild is being loaded, which takes some seconds when it is large. "

func (l *Leaderboard) load(ctx context.Context, g *guild.Guild, op string, load func(context.Context, GuildRef) error) error {
	if !l.loading.TryAcquire(1) {
		return fault.Down("load the guild to "+op, errQueueFull)
	}
	defer l.loading.Release(1)
	err := load(ctx, Ref(g))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrGuildMoved), errors.Is(err, ErrOtherPeriods):
		// The request was authorized by outdated settings, so the client must repeat it.
		l.settings.Forget(g.ID)
		return &fault.Error{Code: fault.Unavailable, Message: "This guild was just changed. Try again.", Cause: err, RetryAfter: time.Second}
	case errors.Is(err, ErrStillLoading):
		return &fault.Error{
			Code: fault.Unavailable, Cause: fmt.Errorf("load the guild to %s: %w", op, err), RetryAfter: 2 * time.Second,
			Message: beingLoaded + "Nothing was changed: try again in a few seconds.",
		}
	}
	return fault.Down("load the guild to "+op, err)
}

// NoMember returns the fault for a user without an entry, and for a hidden user whom the caller may not see.
func NoMember() error { return asFault("read a member", ErrNoMember) }

func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotPresent):
		return fault.Wrap(err, fault.NotFound, "This member has left the guild. Their XP is kept: bring them back with PUT /v2/guilds/{guildId}/presence.")
	case errors.Is(err, ErrNoMember):
		return fault.Wrap(err, fault.NotFound, "This user has no level entry in the guild. Create it with POST, or send the user's messages to /v2/guilds/{guildId}/messages.")
	case errors.Is(err, ErrMemberExists):
		return fault.Wrap(err, fault.Conflict, "This user has a level entry in the guild already. Change it with PATCH. If the member has left, first bring them back with PUT /v2/guilds/{guildId}/presence.")
	case errors.Is(err, ErrKeyReused):
		return fault.Wrap(err, fault.Conflict, "This Idempotency-Key was given to another request in this guild. Send a new key with a new request.")
	case errors.Is(err, ErrNotReplicated):
		return &fault.Error{
			Code: fault.Unavailable, Cause: fmt.Errorf("%s: %w", op, err), RetryAfter: time.Second,
			Message: "Too few replicas of the storage have this change. It may last and it may not: repeat the request with its Idempotency-Key, or look before you do.",
		}
	default:
		return fault.Down(op, err)
	}
}
