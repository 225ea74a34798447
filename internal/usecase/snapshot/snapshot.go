// Package snapshot keeps the live store and the archive in step: the Writer copies changed members to the archive, the
// Hydrator loads a guild from it. Three counters keep them honest; docs/architecture.md explains how.
package snapshot

import (
	"context"
	"errors"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

// Row is a member as the archive holds it. With Deleted it is a tombstone: only UserID counts.
type Row struct {
	leaderboard.Member
	CooldownUntil time.Time // zero when there is none; milliseconds
	Deleted       bool
	Absent        bool // the member is not present; else as others are
	// Gains are what the member gained, by day, each day once: all of its last days and of those that may not be archived yet. The archive
	// holds earlier days as well.
	Gains []period.Gain
	// Fresh says that the entry was made after a deletion that may not be archived yet: what the archive has of other days was of the entry before.
	Fresh bool
}

// State is what the archive knows of a guild's snapshots.
type State struct {
	Epoch    int64 // raised by each hydration, before it loads
	Archived int64 // the highest rev that any committed batch carried
}

// Batch is some changed members of one guild, read from the live store in one atomic step. No user stands in it twice.
type Batch struct {
	Guild leaderboard.GuildRef
	Epoch int64
	// Rev is up to which changes it is: every member is in it that has changed up to it and is not archived since.
	Rev int64
	// Known is the highest rev that the live store knew to be in the archive, or on its way there, before this batch was
	// read. When the archive holds a higher one, the live store has gone back in time.
	Known int64
	// Archived is the highest rev that the archive is certain to have committed: it said so. When it holds a lower one, it has gone back
	// in time itself. 0 asks for nothing.
	Archived int64
	// AsOf is the guild's rev when the batch was read: a row has all changes of its member up to it. 0 stands for Rev.
	AsOf int64
	Rows []Row
	// Records are the oldest of the guild's journal. Without all that is in it, a batch has no rows and no Rev.
	Records []Record
	// Until is where the journal continues after Records.
	Until string
	// Before is when the oldest change was made, at the earliest, that waits once the batch is archived; zero when that is not known.
	Before time.Time
	// Mended are users in Rows whose entry was damaged: a row holds what of it could be read.
	Mended []id.User
}

// Record is an entry of a guild's journal: that a named request was made, and what it did; or a record of the audit log; or both, of one step.
type Record struct {
	Name, Request leaderboard.Digest // zero when there is only Audit
	Rev           int64              // the guild's, with the change
	At            time.Time          // milliseconds
	Outcome       string             // as the live store recorded it
	Users         []id.User          // whom it changed
	Audit         *audit.Record
}

// Errors of an Archive.
var (
	// ErrStale says that the guild was deleted or created again, that its epoch moved on, or that the archive holds what the
	// live store does not know of, and that nothing was written.
	ErrStale = errors.New("the archive has moved on from this state of the guild")
	// ErrArchiveBehind says that the archive does not hold what it has committed of this load of the guild, as after a failover to a
	// standby that lagged, and that nothing was written. The live store holds all of it (Writer.rewrite).
	ErrArchiveBehind = errors.New("the archive has lost what it had committed of the guild")
	// ErrBadRow says that a row of the batch holds what no archive takes, and that nothing was written. Without the row the
	// batch can be written.
	ErrBadRow = errors.New("a row cannot be archived")
)

// ErrArchiveOlder says that the live store is of a later load than the archive knows of: the archive was restored from a
// backup, perhaps. The operator has to decide which of the two is to go; see docs/durability.md.
var ErrArchiveOlder = errors.New("the archive is older than Redis; see docs/durability.md on restoring a backup")

// ErrEarlierFormat says that the live store holds changes of the guild as an earlier version of Levelboard keeps them, which this one cannot read.
var ErrEarlierFormat = errors.New("the version before has not archived all that changed in this guild: start that version again, stop it with SIGTERM, " +
	"and then start this one, see docs/operations.md")

// ErrLaterFormat says that the live store holds the guild as a later version of Levelboard keeps it, and that this one leaves
// it alone.
var ErrLaterFormat = errors.New("a later version of Levelboard has loaded this guild; update this replica, see docs/operations.md")

// Archive is what snapshots need of Postgres or SQLite.
type Archive interface {
	lease.Store
	// WriteBatches writes batches of different guilds, 5000 rows in all at most, in one transaction: it locks the rows of all guilds, in the
	// order of their ids, and checks the lease once. A row replaces an older one (epoch, then rev, which is the batch's AsOf) only, a record
	// any of its name. A guild's Archived becomes Rev when that is higher, also for a batch without rows.
	//
	// With a row that is written, or was by the same batch before, each of its Gains replaces that of its day; with Fresh or Deleted the member's
	// gains of all other days go. Where the archive's row is newer, gains stay as they are.
	//
	// errs tells of each batch that alone was left out: ErrStale when incarnation or epoch differ, or Archived is above b.Known;
	// ErrArchiveBehind when these fit and Archived is below b.Archived; ErrBadRow when it fails Check. With err nothing at all was written, or
	// nobody knows: lease.ErrLost when the fence differs, and ErrBadRow when the archive itself refuses data of one of them.
	WriteBatches(ctx context.Context, l lease.Lease, batches []Batch) (errs []error, err error)
	// State reads a guild's counters. ErrStale when this incarnation does not exist.
	State(ctx context.Context, g leaderboard.GuildRef) (State, error)
	// States reads the counters of at most 1000 guilds. Those whose incarnation does not exist are left out.
	States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]State, error)
	// RaiseEpoch raises the epoch by one if the guild's state still is from, and returns the new state. ErrStale, with
	// nothing changed, when the incarnation is gone, the epoch is another one, or a batch that was under way has been
	// committed since from was read. Tombstones stay: Salvage may need them.
	//
	// kept is the rev up to which the live store has all changes of from's epoch; 0 when it is loaded again. Of what later changes did, as
	// the records say, those members that no row has it of have lost it: Past says so from now on.
	RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from State, kept int64) (State, error)
	// Past reads what is known of a named request of the last 24 hours.
	Past(ctx context.Context, g leaderboard.GuildRef, name leaderboard.Digest) (*leaderboard.Past, error)
	// Salvage merges rows, 5000 at most, of a live store that went back in time, before the guild is loaded again, so that no
	// member's XP is lower than in either. b.Epoch, b.Rev and b.Known are that store's. A row without an entry there (Deleted)
	// becomes a tombstone when it has not been written since: from is of b.Epoch, and its rev is not above b.Known. Else nothing of it is
	// written. A member without an archived row is inserted, and so is one whose tombstone that store knew of: it is not newer than (b.Epoch, b.Known).
	// Two entries become one with the higher XP and message count, the later times, and the user data that was updated
	// last, the archive's when that is not known; unknown user data never replaces known. Of each day in Gains the higher one stays, and a tombstone
	// has no gains. What is written carries from's
	// epoch and a rev that is neither below Archived nor, if the epochs are the same, below b.Rev or that of the row before; the guild's state
	// stays. Records are written as by WriteBatches. One transaction, which locks the guild's row; to repeat it
	// changes nothing. ErrBadRow as WriteBatches. ErrStale, with nothing written, when the incarnation is gone or its state is not from. It needs no lease.
	Salvage(ctx context.Context, from State, b Batch) error
	// Erased says which of the users were erased.
	Erased(ctx context.Context, users []id.User) (map[id.User]Erasure, error)
	// Members reads the guild's members (no tombstones) in ascending order of their ids, after the id after ("" from the
	// start), at most limit, each with its gains of LastDay and the two days before, the newest first. ErrStale when this incarnation does not exist.
	Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]Row, error)
	// LastDay reads the newest day of which any member has gains; 0 when none has.
	LastDay(ctx context.Context, g leaderboard.GuildRef) (period.Day, error)
	// Deleted lists deleted guilds whose members Purge has not deleted yet, the ones deleted longest ago first, at most limit.
	Deleted(ctx context.Context, limit int) ([]leaderboard.GuildRef, error)
	// Purge deletes at most limit rows that nothing needs any more: members, gains and periods of deleted guilds, which Deleted lists no more
	// when it has deleted them all, tombstones and history that are older than keep says, entries of the change log that are older than a day,
	// except for the newest, and what is too old of the use, the history and the former secrets of keys. It returns how many.
	Purge(ctx context.Context, limit int, keep Keep) (int, error)
}

// KeptRanks is how many ranks of a closed period's board are kept as long as their guild.
const KeptRanks = 100

// Keep says what Purge leaves.
type Keep struct {
	// Tombstones are kept for this long after they were written.
	Tombstones time.Duration
	// History is for how many days gains are kept that no open period needs, ranks below KeptRanks of closed periods, and the totals of periods
	// without a board or members; 0 keeps them all.
	History int
	// Audit is for how many days records of the audit log are kept; 0 keeps them all.
	Audit int
}

// Erasure says what of a user was erased.
type Erasure struct {
	Until time.Time // by Redis' clock; what is not later is erased. In an erasure that has not ended, a time that has not come
	As    string    // stands for the user in the audit log
}

// Page is what ReadChanges says of a guild.
type Page struct {
	Batch Batch     // without rows and records, nothing waits; without Guild, the guild is not loaded
	At    time.Time // when it was read, by the live store's clock
	Err   error
}

// More reports whether more waited than is in the page.
func (p Page) More() bool { return p.Batch.Rev < p.Batch.AsOf }

// Load is what the live store has loaded of a guild at one time.
type Load struct {
	Guild leaderboard.GuildRef
	Epoch int64
}

// Seen are the guilds of a survey of which there is something to say.
type Seen struct {
	Changed    []id.Guild // something waits to be archived, or cannot be read
	Unverified []id.Guild // not compared with the archive since the live store came back, and nothing else
	// Cold are those of which nobody has noted a use for as long as was asked (0: there are none), and of which nothing waits. A guild whose
	// uses nobody has noted yet is noted by the survey.
	Cold []Quiet
	// Warm are the others of which nothing waits.
	Warm []Quiet
}

// Live is what snapshots need of the live store. ErrNotLoaded (package leaderboard) when it does not hold the incarnation.
type Live interface {
	// ChangedGuilds takes all guilds out of the index of guilds with changed members and returns them, those that changed first first.
	ChangedGuilds(ctx context.Context) ([]id.Guild, error)
	// LoadedGuilds lists every guild that the store holds, changed or not; with an error, those that it has found.
	LoadedGuilds(ctx context.Context) ([]id.Guild, error)
	// Survey looks at guilds, each in a step of its own. After an error, which is about the live store and not about one guild, it
	// returns what it has seen.
	Survey(ctx context.Context, guilds []id.Guild, idle time.Duration) (Seen, error)
	// NoteUses notes that the guilds are used now, by the live store's clock; not of those that it does not hold.
	NoteUses(ctx context.Context, guilds []id.Guild) error
	// Evict removes the guild, but for its events and the records of its requests, if it still is cold and as the archive
	// holds it (c.State), in one atomic step; gone says whether it was removed. Its next load continues with its events as if
	// it had never been away.
	Evict(ctx context.Context, c Quiet, idle time.Duration) (gone bool, err error)
	// MarkChanged puts guilds back into the index; after an error some may not be there.
	MarkChanged(ctx context.Context, guilds ...id.Guild) error

	// ReadChanges reads, of each of the guilds, which are named once, the members that have waited longest for a snapshot, about size of them,
	// with their entries, or that they have none (Deleted), and notes that their changes are about to be archived: each guild in an
	// atomic step of its own, in no order, many in a round trip. They wait on until EndChanges; a member that changes from now on has a
	// higher rev then. A damaged entry is read as well as it can be, and is in Mended. ErrUnverified, with Batch.Guild, for a guild that
	// must be verified first: load it. A server that cannot be asked is the error of all its guilds. It does not see
	// that the live store has gone back in time; WriteBatches does.
	ReadChanges(ctx context.Context, guilds []id.Guild, size int) []Page
	// EndChanges notes that batches of ReadChanges were committed, and that what was read of their guilds does not wait any more; more says
	// whether anything of a guild still does. Steps, answers and errors are as in ReadChanges.
	EndChanges(ctx context.Context, batches []Batch) (more []bool, errs []error)
	// Forget removes records of requests that are older than leaderboard.OnceTTL, of each guild a part, and of each once an hour; more are those
	// of which it continues at once.
	Forget(ctx context.Context, guilds []id.Guild) (more []id.Guild, err error)

	// NoteUnsaved notes users for the next snapshot, there or not, though they have not changed, in pieces, each in an atomic step; users are
	// the guild's, of l's epoch. It returns the rev that the live store knows to be archived (Batch.Archived), also for no users at all.
	NoteUnsaved(ctx context.Context, l Load, users []id.User) (archived int64, err error)
	// NoteAllUnsaved does so with all members that the live store holds.
	NoteAllUnsaved(ctx context.Context, l Load) error
	// LowerArchived notes that the archive holds no more than to, if the rev that is known to be archived still is from, in one atomic
	// step; lowered says whether. All members must have been noted: from now on what they were is not known to be archived.
	LowerArchived(ctx context.Context, l Load, from, to int64) (lowered bool, err error)

	// Distrust takes back that the guild was verified, because the archive, which refused a batch, holds what the live store does not know of. It
	// also takes back what reading that batch has noted, or it would look as if the live store knew.
	Distrust(ctx context.Context, refused Batch) error
	// Backlog sums up what waits for a snapshot, in the guilds of the index and in those underway. When these are thousands it asks
	// some of them, drawn at random, and those that are stuck, which may be in the index; it changes neither list.
	Backlog(ctx context.Context, underway, stuck []id.Guild) (Backlog, error)

	// BeginHydration takes the guild's hydration lock, unless the guild is loaded or somebody else holds it, and compares
	// what is there with what is archived. Commit removes another incarnation's data. After an error h may
	// hold the lock all the same, when only the answer was lost: abort it.
	BeginHydration(ctx context.Context, g leaderboard.GuildRef, archived State) (h Hydration, found Found, err error)
	// Unsaved reads the members with unsaved changes of a guild that was FoundOlder, in batches with that guild's epoch,
	// rev and Known, and calls each with them until it fails. A member may come more than once. ErrHydrationLost when the lock was lost.
	Unsaved(ctx context.Context, h Hydration, each func(Batch) error) error
	// Verified puts a guild that was FoundUnverified into use, at the archive's new epoch, and gives the lock up.
	// ErrHydrationLost when the lock was lost.
	Verified(ctx context.Context, h Hydration, s State) error
	// LoadChunk puts rows into the staging keys. ErrHydrationLost when the lock was lost; the staging keys expire by themselves.
	LoadChunk(ctx context.Context, h Hydration, rows []Row) error
	// CommitHydration moves the staging keys into place and writes the guild's meta last, in one atomic step: rev and
	// archived start at s.Archived. ErrHydrationLost when the lock was lost.
	CommitHydration(ctx context.Context, h Hydration, s State) error
	// AbortHydration gives the lock up and drops the staging keys.
	AbortHydration(ctx context.Context, h Hydration) error

	// Drop removes all of the guild's keys if it holds this incarnation or none.
	Drop(ctx context.Context, g leaderboard.GuildRef) error
}

// Quiet is a loaded guild of which nothing waits to be archived. State is what the archive has to hold: what the live store knows to
// be archived.
type Quiet struct {
	Guild leaderboard.GuildRef
	State State
}

// Hydration is a held hydration lock.
type Hydration struct {
	Guild leaderboard.GuildRef
	Token string
	Rev   int64 // of a guild that was FoundUnverified, which nobody changes while the lock is held; else 0
	// LastDay is the last day on which a member of the guild gained anything, by the archive; 0 when there is none. It is for CommitHydration.
	LastDay period.Day
}

// Found is what a hydration finds of its guild in the live store.
type Found int

// What there may be. FoundLoaded, FoundBusy, FoundEarlierFormat and FoundLaterFormat leave the lock alone.
const (
	FoundNothing       Found = iota // of this incarnation
	FoundLoaded                     // and verified: there is nothing to do
	FoundBusy                       // somebody else holds the lock
	FoundUnverified                 // the server is another one than it was verified on, and it holds all that is archived
	FoundOlder                      // it does not know of all that is archived: it has gone back in time
	FoundNewer                      // it is of a later epoch than the archive, which has gone back in time itself
	FoundEarlierFormat              // an earlier version of Levelboard loaded it, and has not archived all of it
	FoundLaterFormat                // a later version of Levelboard loaded it
)

// Backlog is what the live store holds and the archive does not.
type Backlog struct {
	Members int64         // changed since they were last archived; an estimate when they are of thousands of guilds
	Oldest  time.Duration // since the oldest of those changes that was seen, or longer; 0 when there is none
}

// ErrUnverified says that the live store may be older than the archive, and that nothing of the guild is used until a
// hydration has compared them.
var ErrUnverified = errors.New("the guild was not yet compared with the archive")

// ErrHydrationLost says that a hydration's lock expired or passed to another one.
var ErrHydrationLost = errors.New("the hydration lock was lost")
