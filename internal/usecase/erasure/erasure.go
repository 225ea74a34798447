// Package erasure finds a user's data, and erases it for good. docs/architecture.md walks through the steps. Callers check rights.
package erasure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// ErrContinues says that an erasure has begun, and is ended by Run.
var ErrContinues = errors.New("the erasure has begun and is not complete")

// Stored is a user's data.
type Stored struct {
	Guilds       []Membership // by id
	Hidden       []hiding.InGuild
	Keys         []Key // API keys that the user owns, by id
	Sessions     int64 // of the pages
	AuditRecords int64 // that name the user
	// Traces says that the archive names the user elsewhere: in closed periods, checkpoints, records of requests or the history of keys.
	Traces bool
}

// Nothing reports whether nothing is stored.
func (s *Stored) Nothing() bool {
	return len(s.Guilds) == 0 && len(s.Hidden) == 0 && len(s.Keys) == 0 && s.Sessions == 0 && s.AuditRecords == 0 && !s.Traces
}

// Membership is a user's entry in a guild. A Row that is Deleted has none.
type Membership struct {
	Guild leaderboard.GuildRef
	Row   snapshot.Row
	Level level.Level // by the guild's curve; set by Find and Known
	Name  string      // of the guild; likewise
}

// InGuild is a user's data in a guild: an entry, flags that hide the user, or both.
type InGuild struct {
	Guild id.Guild
	Entry *Membership // nil without one
	Flags hidden.Flags
}

// ByGuild joins entries and flags, in the order of the guilds' ids.
func (s *Stored) ByGuild() []InGuild {
	in := map[id.Guild]InGuild{}
	for i, m := range s.Guilds {
		in[m.Guild.ID] = InGuild{Guild: m.Guild.ID, Entry: &s.Guilds[i]}
	}
	for _, h := range s.Hidden {
		in[h.Guild] = InGuild{h.Guild, in[h.Guild].Entry, h.Flags}
	}
	return slices.SortedFunc(maps.Values(in), func(a, b InGuild) int { return cmp.Compare(a.Guild, b.Guild) })
}

// GuildDocument is a user's data in a guild as JSON. All of an entry is null for a user who has flags alone.
type GuildDocument struct {
	ID           id.Guild          `json:"id"`
	XP           *level.XP         `json:"xp"`
	Level        *level.Level      `json:"level"`
	MessageCount *int64            `json:"messageCount"`
	Present      *bool             `json:"present"`
	User         *leaderboard.User `json:"user"`
	Hidden       []string          `json:"hidden"`
}

// Document returns the data as JSON says it.
func (in InGuild) Document() GuildDocument {
	d := GuildDocument{ID: in.Guild, Hidden: in.Flags.Words()}
	if m := in.Entry; m != nil {
		d.XP, d.Level, d.MessageCount, d.Present, d.User = &m.Row.XP, &m.Level, &m.Row.MessageCount, new(!m.Row.Absent), &m.Row.User
	}
	return d
}

// Key names an API key.
type Key struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Open is an erasure that has not ended.
type Open struct {
	User id.User
	// At is the time, by Redis' clock, at which Redis had been searched: older data is erased. Zero before that.
	At time.Time
}

// Request is a named request that changed nobody else.
type Request struct {
	Guild id.Guild
	Name  leaderboard.Digest
}

// Archive is the package's store in Postgres or SQLite. Each method is one transaction.
type Archive interface {
	// StoredOf reads a user's data in the archive, by its indexes; without Sessions and Traces.
	StoredOf(ctx context.Context, user id.User) (Stored, error)
	// TracesOf reports whether Stored.Traces holds. It reads all records of requests, and of the audit log all with texts.
	TracesOf(ctx context.Context, user id.User) (bool, error)
	Guild(ctx context.Context, g id.Guild) (*guild.Guild, error)
	// States is as in snapshot.Archive.
	States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]snapshot.State, error)
	// LiftHidden lifts all flags of the user, and appends to the change log. It returns the guilds, with the numbers of these changes.
	LiftHidden(ctx context.Context, user id.User) ([]leaderboard.GuildRef, error)
	// BeginErasure notes an erasure, with the user's id until EndErasure. An open one begins again.
	BeginErasure(ctx context.Context, user id.User) error
	// OpenErasures lists erasures that have not ended, the oldest first.
	OpenErasures(ctx context.Context, limit int) ([]Open, error)
	// NoteSearched notes when Redis had been searched for the user.
	NoteSearched(ctx context.Context, user id.User, at time.Time) error
	// MemberOf lists guilds in which the user has an entry that was last updated up to a time, or at a time that is not known.
	MemberOf(ctx context.Context, user id.User, until time.Time) ([]leaderboard.GuildRef, error)
	// EraseKeys deletes the user's API keys and appends to the change log. It returns their ids.
	EraseKeys(ctx context.Context, user id.User) ([]string, error)
	// RequestsOf lists recorded requests that changed this user only, of guilds that exist.
	RequestsOf(ctx context.Context, user id.User) ([]Request, error)
	// EraseRows deletes all rows that name the user but the entries of guilds, while no copy of members is under way, and replaces the user and their
	// keys in the audit log by another name. all reports that MemberOf, up to o.At, then has no guild.
	EraseRows(ctx context.Context, o Open) (all bool, err error)
	// EndErasure replaces the id by its keyed hash, unless the erasure began again since NoteSearched.
	EndErasure(ctx context.Context, o Open) error
	// HasErasures reports whether anybody was ever erased.
	HasErasures(ctx context.Context) (bool, error)
	// Erased is as in hydrate.Archive.
	Erased(ctx context.Context, users []id.User) (map[id.User]hydrate.Erasure, error)
}

// Searched is the result of searching a guild.
type Searched struct {
	Guild leaderboard.GuildRef // zero when the live store does not hold the guild
	// Unverified says that the guild has to be loaded first, and that nothing was done.
	Unverified bool
	// Noted says that the user was named there, until the archive has all up to Rev of this Epoch.
	Noted      bool
	Epoch, Rev int64
	Err        error
}

// Erased is Archive.Erased.
type Erased func(ctx context.Context, users []id.User) (map[id.User]hydrate.Erasure, error)

// Live is the package's live store.
type Live interface {
	// Clock is the latest time of its servers.
	Clock(ctx context.Context) (time.Time, error)
	// Lives is another text after any of the servers has started again, or was replaced.
	Lives(ctx context.Context) (string, error)
	LoadedGuilds(ctx context.Context) ([]id.Guild, error)
	// Entries looks for the user in guilds, which are named once; rows are Deleted where the user has no entry. Guilds that are not in use
	// are left out.
	Entries(ctx context.Context, guilds []id.Guild, user id.User) ([]Membership, error)
	// EraseMember takes the user's entry and gains out of guilds, which are named once, each in one atomic step. Where always is set or something was
	// found, in the journal too, it notes the deletion for the snapshot writer, with a rev.
	EraseMember(ctx context.Context, guilds []id.Guild, user id.User, always bool) []Searched
	// Archived returns for each guild the state that is archived and no longer waits in Redis; zero for guilds that are not loaded.
	Archived(ctx context.Context, guilds []id.Guild) ([]snapshot.State, error)
	// EraseEvents takes the events that name the user out of all logs of all guilds.
	EraseEvents(ctx context.Context, user id.User) error
	// EraseOldEvents removes from all logs the events that name users from before their erasure.
	EraseOldEvents(ctx context.Context, erased Erased) error
	// EraseRequests forgets requests.
	EraseRequests(ctx context.Context, requests []Request) error
	// EraseAccess ends the user's sessions and drops the budgets of the user and of their API keys.
	EraseAccess(ctx context.Context, user id.User, keys []string) error
	// CountSessions counts the sessions of a user.
	CountSessions(ctx context.Context, user id.User) (int64, error)
	// SessionUsers calls each with the users who have sessions, in portions, until it fails.
	SessionUsers(ctx context.Context, each func([]id.User) error) error
	// EndSessionsBefore ends a user's sessions that began up to a time.
	EndSessionsBefore(ctx context.Context, user id.User, until time.Time) error
	// Drop is as in snapshot.Live.
	Drop(ctx context.Context, g leaderboard.GuildRef) error
}

// Options configure an Eraser; all are required.
type Options struct {
	Lease    func() (lease.Lease, bool) // of this process, if it is held
	Interval time.Duration              // of snapshots
	Log      *slog.Logger
}

// Eraser holds the use cases. Its errors are faults. It is safe for concurrent use.
type Eraser struct {
	archive  Archive
	live     Live
	loader   leaderboard.Loader
	announce changes.Announcer
	o        Options

	mu     sync.Mutex
	active map[id.User]int // erasures that requests wait for

	lives string // those in which nothing of an erased user is left; Run's
}

// New returns the use cases.
func New(archive Archive, live Live, loader leaderboard.Loader, announce changes.Announcer, o Options) *Eraser {
	return &Eraser{archive: archive, live: live, loader: loader, announce: announce, o: o, active: map[id.User]int{}}
}

// retryAfter is when to ask again for an erasure that was not complete.
const retryAfter = 10 * time.Second

// Erase erases a user everywhere and returns when it is done. If it is cut off, Run ends it, here or on another replica: ErrContinues.
func (e *Eraser) Erase(ctx context.Context, user id.User) error {
	e.mu.Lock()
	e.active[user]++
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.active[user]--; e.active[user] == 0 {
			delete(e.active, user)
		}
	}()
	if err := e.archive.BeginErasure(ctx, user); err != nil {
		return fault.Down("begin the erasure of a user", err)
	}
	if err := e.erase(ctx, Open{User: user}); err != nil {
		return &fault.Error{
			Code: fault.Unavailable, RetryAfter: retryAfter, Cause: fmt.Errorf("erase a user: %w: %w", ErrContinues, err),
			Message: "The erasure has begun, and continues by itself as soon as Redis and the archive answer. Repeat the request to learn whether it is complete.",
		}
	}
	return nil
}

func (e *Eraser) isActive(user id.User) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.active[user] > 0
}
