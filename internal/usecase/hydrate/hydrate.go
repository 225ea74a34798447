// Package hydrate loads guilds from the archive into the live store; there is no other way in. When Redis has restarted it compares the two first:
// current data stays, older data is merged into the archive and loaded again.
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

// errArchiveOlder says that the live store is of a later load than the archive knows: perhaps the archive was restored from a backup. The operator
// must decide which of the two to drop; see docs/durability.md.
var errArchiveOlder = errors.New("the archive is older than Redis; see docs/durability.md on restoring a backup")

// errOtherFormat says that the live store holds the guild as another version of Levelboard keeps it.
var errOtherFormat = errors.New("this Redis holds data of another version: flush it")

// ErrLost says that a hydration's lock expired or passed to another one.
var ErrLost = errors.New("the hydration lock was lost")

// Reloaded is the rev to give to RaiseEpoch for a live store that is about to be loaded.
const Reloaded = -1

// Archive is the package's store in Postgres or SQLite.
type Archive interface {
	// State is as in snapshot.Archive.
	State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error)
	// RaiseEpoch raises the epoch by one if the guild's state is still from, and returns the new state. snapshot.ErrStale, with nothing changed,
	// when the incarnation is gone, the epoch differs, or a batch was committed since from was read. Tombstones stay: Salvage may need them.
	//
	// kept is the rev up to which the live store has all changes of from's epoch, or Reloaded. Members whose row lacks a later recorded change have
	// lost it; Past reports that from now on.
	RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (snapshot.State, error)
	// Past reads the record of a named request of the last 24 hours.
	Past(ctx context.Context, g leaderboard.GuildRef, name leaderboard.Digest) (*leaderboard.Past, error)
	// Salvage merges rows, 5000 at most, of a live store that went back in time, before the guild is loaded again, so that no member's XP is lower than
	// in either. b.Epoch, b.Rev and b.Known are that store's. A row without an entry there (Deleted) becomes a tombstone if the archive has not
	// written it since. A member without an archived row, or with a tombstone that the store knew of, is inserted. Two entries become one with
	// the higher XP and message count, the later times, the user data that was updated last, if it is known, and of each day the higher gain.
	//
	// What is written carries from's epoch, and a rev above the row before; the guild's state stays. Records are written as by WriteBatches. To repeat it
	// changes nothing. snapshot.ErrStale, with nothing written, when the incarnation is gone or its state is not from. It needs no lease.
	Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error
	// Erased says which of the users were erased.
	Erased(ctx context.Context, users []id.User) (map[id.User]Erasure, error)
	// Members is as in snapshot.Archive.
	Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error)
	// HiddenAfter reads which flags of hidden users changed after a number, the first of them, about hidden.MaxStep. guild.ErrNotFound.
	HiddenAfter(ctx context.Context, g id.Guild, number int64) (hidden.Part, error)
	// Guild reads a guild with its settings. guild.ErrNotFound.
	Guild(ctx context.Context, g id.Guild) (*guild.Guild, error)
	// LastDay reads the newest day on which any member gained; 0 if none did.
	LastDay(ctx context.Context, g leaderboard.GuildRef) (period.Day, error)
	// AddGains adds to members, in the order of their ids, the Gains of the day last and the two days before, the newest first, and those
	// OnBoards, if there are boards.
	AddGains(ctx context.Context, g leaderboard.GuildRef, rows []snapshot.Row, last period.Day, boards *period.Boards) error
}

// Erasure says which data of a user was erased.
type Erasure struct {
	Until time.Time // by Redis' clock; what is not later is erased. In an erasure that has not ended, a time that has not come
	As    string    // stands for the user in the audit log
}

// Live is the package's live store.
type Live interface {
	// BeginHydration takes the guild's hydration lock, unless the guild is loaded or another holder has it, and compares the live store with the
	// archived state. After an error h may hold the lock all the same, because only the answer was lost: abort it.
	BeginHydration(ctx context.Context, g leaderboard.GuildRef, archived snapshot.State) (h Lock, found Found, err error)
	// Unsaved reads the members with unsaved changes of a guild that was FoundOlder, in batches with that guild's epoch,
	// rev and Known, and calls each with them until it fails. A member may come more than once. ErrLost when the lock was lost.
	Unsaved(ctx context.Context, h Lock, each func(snapshot.Batch) error) error
	// Verified puts a guild that was FoundUnverified into use, at the archive's new epoch, and gives the lock up.
	// ErrLost when the lock was lost.
	Verified(ctx context.Context, h Lock, s snapshot.State) error
	// LoadChunk puts rows into the staging keys. ErrLost when the lock was lost; the staging keys expire by themselves.
	LoadChunk(ctx context.Context, h Lock, rows []snapshot.Row) error
	// CommitHydration moves the staging keys into place and writes the guild's meta last, in one atomic step: rev and
	// archived start at s.Archived. ErrLost when the lock was lost.
	CommitHydration(ctx context.Context, h Lock, s snapshot.State) error
	// CopyHidden copies flags of hidden users, in one atomic step, unless the guild has them, or lacks earlier ones. has is up to which number the
	// guild has them then. leaderboard.ErrNotLoaded.
	CopyHidden(ctx context.Context, g leaderboard.GuildRef, part hidden.Part) (has int64, err error)
	// AbortHydration gives the lock up and drops the staging keys.
	AbortHydration(ctx context.Context, h Lock) error
	// Boards reads which boards of periods a guild has (period.Boards), and the clock that chooses the day of a gain.
	Boards(ctx context.Context, g id.Guild) (boards string, now time.Time, err error)
	Freezer
	// EvictFrozen removes a guild whose changes are all archived, as snapshot.Live's Evict does: its log of events and the records of its requests lose
	// nothing. ErrLost when it is not frozen any more.
	EvictFrozen(ctx context.Context, h Lock, s snapshot.State) error
}

// Lock is a held hydration lock.
type Lock struct {
	Guild leaderboard.GuildRef
	Token string
	Rev   int64 // of a guild that was FoundUnverified, which nobody changes while the lock is held; else 0
	// For CommitHydration: Boards are the loaded boards, each after the newest day on which a member gained anything; empty when no member has
	// gains. Gained is the sum of the gains above 0 on each, of present members.
	Boards string
	Gained [4]int64
}

// Found is the guild's state in the live store at the begin of a hydration.
type Found int

// What there may be. FoundLoaded, FoundBusy and FoundOtherFormat leave the lock alone.
const (
	FoundNothing     Found = iota // of this incarnation
	FoundLoaded                   // and verified: there is nothing to do
	FoundBusy                     // somebody else holds the lock
	FoundUnverified               // the server is another one than it was verified on, and it holds all that is archived
	FoundOlder                    // it does not know of all that is archived: it has gone back in time
	FoundNewer                    // it is of a later epoch than the archive, which has gone back in time itself
	FoundOtherFormat              // another version of Levelboard loaded it
)
