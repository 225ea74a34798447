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

// ErrContinues says that an erasure has begun, and that Run will complete it.
var ErrContinues = errors.New("the erasure has begun and is not complete")

// Stored is a user's data.
type Stored struct {
	Guilds       []Membership // by the guilds' ids
	Hidden       []hiding.InGuild
	Keys         []Key // API keys of the user, by id
	Sessions     int64 // signed-in browsers
	AuditRecords int64 // that name the user
	// Traces says that the archive names the user elsewhere: in closed periods, checkpoints, records of requests or the history of keys.
	Traces bool
}

// Nothing reports whether nothing is stored.
func (s *Stored) Nothing() bool {
	return len(s.Guilds) == 0 && len(s.Hidden) == 0 && len(s.Keys) == 0 && s.Sessions == 0 && s.AuditRecords == 0 && !s.Traces
}

// Membership is a user's entry in a guild. If Row.Deleted is set, there is no entry.
type Membership struct {
	Guild leaderboard.GuildRef
	Row   snapshot.Row
	Level level.Level // by the guild's curve; set by Find and Known
	Name  string      // of the guild; set by Find and Known
}

// InGuild is a user's data in a guild: an entry, flags that hide the user, or both.
type InGuild struct {
	Guild id.Guild
	Entry *Membership // nil if there is none
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

// GuildDocument is a user's data in a guild as JSON. For a user with flags but no entry, the fields of the entry are null.
type GuildDocument struct {
	ID           id.Guild          `json:"id"`
	XP           *level.XP         `json:"xp"`
	Level        *level.Level      `json:"level"`
	MessageCount *int64            `json:"messageCount"`
	Present      *bool             `json:"present"`
	User         *leaderboard.User `json:"user"`
	Hidden       []string          `json:"hidden"`
}

// Document returns the data as JSON.
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
	// At is when Redis had been searched, by its clock; zero before that. Data from before At is erased.
	At time.Time
}

// Request is a named request that changed only this user.
type Request struct {
	Guild id.Guild
	Name  leaderboard.Digest
}

// Archive is what the package needs of Postgres or SQLite. Each method is one transaction.
type Archive interface {
	// StoredOf reads a user's data in the archive by its indexes, except Sessions and Traces.
	StoredOf(ctx context.Context, user id.User) (Stored, error)
	// TracesOf returns Stored.Traces. It reads all records of requests, and all records of the audit log that contain texts.
	TracesOf(ctx context.Context, user id.User) (bool, error)
	Guild(ctx context.Context, g id.Guild) (*guild.Guild, error)
	// States is that of snapshot.Archive.
	States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]snapshot.State, error)
	// LiftHidden lifts all flags of the user, and appends to the change log. It returns the guilds, with the numbers of these changes.
	LiftHidden(ctx context.Context, user id.User) ([]leaderboard.GuildRef, error)
	// BeginErasure records an erasure. The record has the user's id until EndErasure. An open erasure begins again.
	BeginErasure(ctx context.Context, user id.User) error
	// OpenErasures lists open erasures, oldest first.
	OpenErasures(ctx context.Context, limit int) ([]Open, error)
	// NoteSearched records when Redis had been searched for the user.
	NoteSearched(ctx context.Context, user id.User, at time.Time) error
	// MemberOf lists guilds in which the user has an entry whose last update is at or before a time, or unknown.
	MemberOf(ctx context.Context, user id.User, until time.Time) ([]leaderboard.GuildRef, error)
	// EraseKeys deletes the user's API keys and appends to the change log. It returns their ids.
	EraseKeys(ctx context.Context, user id.User) ([]string, error)
	// RequestsOf lists recorded requests of existing guilds that changed only this user.
	RequestsOf(ctx context.Context, user id.User) ([]Request, error)
	// EraseRows deletes all rows that name the user, except entries of guilds, while no members are being copied. In the audit log it replaces the
	// user and their keys by another name. all reports that MemberOf, up to o.At, then has no guild.
	EraseRows(ctx context.Context, o Open) (all bool, err error)
	// EndErasure replaces the id by its keyed hash, unless the erasure began again after NoteSearched.
	EndErasure(ctx context.Context, o Open) error
	// HasErasures reports whether any user was ever erased.
	HasErasures(ctx context.Context) (bool, error)
	// Erased is that of hydrate.Archive.
	Erased(ctx context.Context, users []id.User) (map[id.User]hydrate.Erasure, error)
}

// Searched is the result of searching a guild.
type Searched struct {
	Guild leaderboard.GuildRef // zero if the live store does not hold the guild
	// Unverified says that nothing was done, because the guild must be loaded first.
	Unverified bool
	// Noted says that the guild had data of the user. It is gone when the archive has all changes up to Rev of this Epoch.
	Noted      bool
	Epoch, Rev int64
	Err        error
}

// Erased is Archive.Erased.
type Erased func(ctx context.Context, users []id.User) (map[id.User]hydrate.Erasure, error)

// Live is what the package needs of the live store.
type Live interface {
	// Clock returns the latest time of its servers.
	Clock(ctx context.Context) (time.Time, error)
	// Lives returns a text that differs after any of the servers was restarted or replaced.
	Lives(ctx context.Context) (string, error)
	LoadedGuilds(ctx context.Context) ([]id.Guild, error)
	// Entries reads the user's entries in guilds, which must be different. A row is
	// Deleted if the user has no entry. The result lacks guilds that are not in use.
	Entries(ctx context.Context, guilds []id.Guild, user id.User) ([]Membership, error)
	// EraseMember removes the user's entry and gains from guilds, which must be different. Each guild is one atomic step. If always is set, or if the
	// guild or its journal had data of the user, it notes the deletion for the snapshot writer, with a rev.
	EraseMember(ctx context.Context, guilds []id.Guild, user id.User, always bool) []Searched
	// Archived returns for each guild the state that is archived and no longer waits in Redis; zero for guilds that are not loaded.
	Archived(ctx context.Context, guilds []id.Guild) ([]snapshot.State, error)
	// EraseEvents removes the events that name the user from the logs of all guilds.
	EraseEvents(ctx context.Context, user id.User) error
	// EraseOldEvents removes from all logs the events that name users and are older than their erasure.
	EraseOldEvents(ctx context.Context, erased Erased) error
	// EraseRequests deletes the records of requests.
	EraseRequests(ctx context.Context, requests []Request) error
	// EraseAccess ends the user's sessions and drops the budgets of the user and of their API keys.
	EraseAccess(ctx context.Context, user id.User, keys []string) error
	// CountSessions counts a user's sessions.
	CountSessions(ctx context.Context, user id.User) (int64, error)
	// SessionUsers calls each with the users who have sessions, in portions, until each fails.
	SessionUsers(ctx context.Context, each func([]id.User) error) error
	// EndSessionsBefore ends a user's sessions that began at or before a time.
	EndSessionsBefore(ctx context.Context, user id.User, until time.Time) error
	// Drop is that of snapshot.Live.
	Drop(ctx context.Context, g leaderboard.GuildRef) error
}

// Options configure an Eraser; all are required.
type Options struct {
	Lease    func() (lease.Lease, bool) // the lease of this process, if it holds one
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

	lives string // the result of Lives when no data of an erased user was left; only Run uses it
}

// New returns the use cases.
func New(archive Archive, live Live, loader leaderboard.Loader, announce changes.Announcer, o Options) *Eraser {
	return &Eraser{archive: archive, live: live, loader: loader, announce: announce, o: o, active: map[id.User]int{}}
}

// retryAfter is when to ask again about an erasure that was not complete.
const retryAfter = 10 * time.Second

// Erase erases a user everywhere and returns when it is done. If it is cut
// off it returns ErrContinues: Run completes it, here or on another replica.
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
