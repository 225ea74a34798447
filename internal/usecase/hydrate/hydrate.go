// Package hydrate loads guilds from the archive into the live store; nothing else does. After a restart of
// Redis it compares the two first: current data stays, older data is merged into the archive and loaded again.
//
// It writes no snapshots and evicts nothing (package snapshot), and answers no requests: package leaderboard calls it after NOTLOADED.
package hydrate

import (
	"context"
	"errors"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// errArchiveOlder says that the live store has a later load than the archive knows: perhaps the archive
// was restored from a backup. The operator must decide which of the two to drop; see docs/durability.md.
var errArchiveOlder = errors.New("the archive is older than Redis; see docs/durability.md on restoring a backup")

// errOtherFormat says that another version of Levelboard loaded the guild, in another format.
var errOtherFormat = errors.New("this Redis holds data of another version: flush it")

// ErrLost says that a hydration's lock expired, or that another hydration has taken it.
var ErrLost = errors.New("the hydration lock was lost")

// Reloaded is the rev to pass to RaiseEpoch before the live store is loaded.
const Reloaded = -1

// Archive is what the package needs of Postgres or SQLite.
type Archive interface {
	// State is that of snapshot.Archive.
	State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error)
	// RaiseEpoch raises the epoch by one if the guild's state is still from, and returns the new state.
	// Otherwise (the incarnation is gone, the epoch differs, or a batch was committed since from was
	// read) it returns snapshot.ErrStale and changes nothing. Tombstones stay: Salvage may need them.
	//
	// kept is the rev up to which the live store has all changes of from's epoch, or Reloaded. A
	// member whose row lacks a later recorded change has lost that change; from now on Past says so.
	RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (snapshot.State, error)
	// Past reads the record of a named request of the last 24 hours.
	Past(ctx context.Context, g leaderboard.GuildRef, name leaderboard.Digest) (*leaderboard.Past, error)
	// Salvage merges at most 5000 rows of a live store that went back in time, before the guild is loaded again, so that no
	// member's XP is lower than in either store. b.Epoch, b.Rev and b.Known are the live store's. A row without an entry in
	// the live store (Deleted) becomes a tombstone if the archive has not written it since. A member without an archived
	// row, or with a tombstone that the live store knew of, is inserted. Two entries become one, with the higher XP and
	// message count, the later times, the user data that was updated last, if it is known, and for each day the higher gain.
	//
	// Written rows have from's epoch, and a rev above that of the row before; the guild's state stays.
	// Records are written as by WriteBatches. A repeated call changes nothing. It returns snapshot.ErrStale,
	// with nothing written, if the incarnation is gone or its state is not from. It needs no lease.
	Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error
	// Erased returns those of the users who were erased.
	Erased(ctx context.Context, users []id.User) (map[id.User]Erasure, error)
	// Members is that of snapshot.Archive.
	Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error)
	// HiddenAfter reads the flags of hidden users that changed after a number:
	// the first of them, about hidden.MaxStep. It returns guild.ErrNotFound.
	HiddenAfter(ctx context.Context, g id.Guild, number int64) (hidden.Part, error)
	// Guild reads a guild with its settings. It returns guild.ErrNotFound.
	Guild(ctx context.Context, g id.Guild) (*guild.Guild, error)
	// LastDay reads the newest day on which any member gained; 0 if none did.
	LastDay(ctx context.Context, g leaderboard.GuildRef) (period.Day, error)
	// AddGains sets the Gains of rows for the day last and the two days before, newest
	// first, and OnBoards if there are boards. rows are in the order of their ids.
	AddGains(ctx context.Context, g leaderboard.GuildRef, rows []snapshot.Row, last period.Day, boards *period.Boards) error
}

// Erasure says which data of a user was erased.
type Erasure struct {
	Until time.Time // by Redis' clock: data up to then is erased; in the far future while the erasure has not ended
	As    string    // stands for the user in the audit log
}

// Live is what the package needs of the live store.
type Live interface {
	// BeginHydration takes the guild's hydration lock, unless the guild is loaded or another holder has the lock, and compares
	// the live store with the archived state. After an error h may hold the lock, since only the answer may be lost: abort it.
	BeginHydration(ctx context.Context, g leaderboard.GuildRef, archived snapshot.State) (h Lock, found Found, err error)
	// Unsaved reads the members with unsaved changes of a guild that was FoundOlder, in batches with that guild's epoch, rev and
	// Known. It calls each with them until each fails. A member may come more than once. It returns ErrLost if the lock was lost.
	Unsaved(ctx context.Context, h Lock, each func(snapshot.Batch) error) error
	// Verified puts a guild that was FoundUnverified into use, with the archive's
	// new epoch, and releases the lock. It returns ErrLost if the lock was lost.
	Verified(ctx context.Context, h Lock, s snapshot.State) error
	// LoadChunk puts rows into the staging keys, which expire. It returns ErrLost if the lock was lost.
	LoadChunk(ctx context.Context, h Lock, rows []snapshot.Row) error
	// CommitHydration moves the staging keys into place and writes the guild's meta last, in one
	// atomic step. rev and archived start at s.Archived. It returns ErrLost if the lock was lost.
	CommitHydration(ctx context.Context, h Lock, s snapshot.State) error
	// CopyHidden copies flags of hidden users, in one atomic step, unless the guild has them, or lacks earlier
	// ones. has is the number up to which the guild then has them. It returns leaderboard.ErrNotLoaded.
	CopyHidden(ctx context.Context, g leaderboard.GuildRef, part hidden.Part) (has int64, err error)
	// AbortHydration releases the lock and drops the staging keys.
	AbortHydration(ctx context.Context, h Lock) error
	// Boards reads which boards of periods a guild has (period.Boards), and the clock that chooses the day of a gain.
	Boards(ctx context.Context, g id.Guild) (boards string, now time.Time, err error)
	Freezer
	// EvictFrozen removes a guild whose changes are all archived, as snapshot.Live's Evict does. The guild keeps
	// its log of events and the records of its requests. It returns ErrLost if the guild is no longer frozen.
	EvictFrozen(ctx context.Context, h Lock, s snapshot.State) error
}

// Lock is a held hydration lock.
type Lock struct {
	Guild leaderboard.GuildRef
	Token string
	Rev   int64 // of a guild that was FoundUnverified, which the lock keeps from changing; else 0
	// For CommitHydration: Boards has the last day with a gain and the range of each board (period.Boards). It is empty if no
	// member has gains, and "-" if the guild counts none. Gained are the sums of the present members' gains above 0 on each board.
	Boards string
	Gained [4]int64
}

// Found is the guild's state in the live store when a hydration begins.
type Found int

// The values of Found. With FoundLoaded, FoundBusy and FoundOtherFormat the lock was not taken.
const (
	FoundNothing     Found = iota // this incarnation is not in the live store
	FoundLoaded                   // and verified: nothing to do
	FoundBusy                     // another replica holds the lock
	FoundUnverified               // not verified on this server, which holds all that is archived
	FoundOlder                    // the live store has gone back in time: it lacks archived changes
	FoundNewer                    // the archive has gone back in time: its epoch is older
	FoundOtherFormat              // another version of Levelboard loaded it
)
