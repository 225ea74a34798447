// Package snapshot copies changes of the live store to the archive. The Writer, one among all replicas, writes changed members and the journal,
// sweeps, evicts idle guilds and purges. Three counters keep the two stores in step (docs/architecture.md).
//
// It loads no guild (package hydrate), elects no writer (package lease), and never changes a member.
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

// Row is a member in the archive. If Deleted is set it is a tombstone, and only UserID counts.
type Row struct {
	leaderboard.Member
	CooldownUntil time.Time // zero if there is none; milliseconds
	Deleted       bool
	Absent        bool // the member is not present
	// Gains are the member's gains by day, each day once: those of the last days, and
	// older ones that may not be archived yet. The archive also holds earlier ones.
	Gains []period.Gain
	// Fresh says that the entry was created after a deletion that may not be
	// archived yet: the archive's gains of other days belong to the deleted entry.
	Fresh bool
	// OnBoards are the member's gains in each of period.Boards; set only when the row is loaded.
	OnBoards []int64
}

// State is the archive's counters of a guild's snapshots.
type State struct {
	Epoch    int64 // raised by each hydration, before it loads
	Archived int64 // the highest rev of any committed batch
	// Verified is how many of the last epochs only verified the guild, with nothing committed since.
	// A live store with one of these epochs, or the one before them, is not older than the archive.
	Verified int64
}

// Batch is some changed members of one guild, read from the live store in one atomic step. It contains no user twice.
type Batch struct {
	Guild leaderboard.GuildRef
	Epoch int64
	// Rev bounds the batch: it has every member that changed up to Rev and was not archived since.
	Rev int64
	// Known is the highest rev that the live store knew to be archived, or about to be, before it
	// read this batch. If the archive holds a higher one, the live store has gone back in time.
	Known int64
	// Archived is the highest rev that the archive confirmed. If it holds a
	// lower one, the archive itself has gone back in time. 0 skips the check.
	Archived int64
	// AsOf is the guild's rev when the batch was read: a row has all changes of its member up to it. 0 means Rev.
	AsOf int64
	// Doubtful says that an earlier batch may not have been committed. A member that has changed since may be missing
	// here, although an earlier change of it is at most Rev. So no record counts as archived together with its effects.
	Doubtful bool
	Rows     []Row
	// Records are the oldest of the guild's journal. If more of the journal remains, the batch has no rows and no Rev.
	Records []Record
	// Until is the position in the journal after Records.
	Until string
	// Before is the earliest possible time of the oldest change that still waits after the batch is archived; zero if not known.
	Before time.Time
	// Mended are users in Rows whose entry was damaged: their row has the readable parts.
	Mended []id.User
}

// Record is an entry of a guild's journal: a named request and its effects, a record of the audit log, or both for one step.
type Record struct {
	Name, Request leaderboard.Digest // zero if there is only Audit
	Rev           int64              // the guild's, after the change
	At            time.Time          // milliseconds
	Outcome       string             // as the live store recorded it
	Users         []id.User          // the members that the step changed
	Rest          bool               // an earlier step of the request had changed other members
	Audit         *audit.Record
}

// Errors of an Archive.
var (
	// ErrStale says that the guild was deleted or created again, that its epoch was raised,
	// or that the archive holds changes that the live store lacks. Nothing was written.
	ErrStale = errors.New("the archive has moved on from this state of the guild")
	// ErrArchiveBehind says that the archive lost commits of this load of the guild, for example in a
	// failover to a lagging standby. Nothing was written. The live store holds all of them (Writer.rewrite).
	ErrArchiveBehind = errors.New("the archive has lost what it had committed of the guild")
)

// Archive is what snapshots need of Postgres or SQLite.
type Archive interface {
	lease.Store
	// WriteBatches writes batches of different guilds, at most 5000 good rows (BadRows.Good), in one
	// transaction under the lease. A row replaces only an older one (by epoch, then rev, which is the
	// batch's AsOf). A record replaces any other of its name. Archived becomes Rev if that is higher.
	//
	// With each written row, its Gains replace those of their days. If the row
	// is Fresh or Deleted, the member's gains of all other days are deleted.
	//
	// errs says why batches were left out: ErrStale if incarnation or epoch differ, or if Archived is above b.Known; otherwise ErrArchiveBehind
	// if Archived is below b.Archived. If err is set, nothing was written, or the outcome is unknown. It is lease.ErrLost if the fence differs.
	WriteBatches(ctx context.Context, l lease.Lease, batches []Batch) (errs []error, err error)
	// State reads a guild's counters. It returns ErrStale for a former incarnation.
	State(ctx context.Context, g leaderboard.GuildRef) (State, error)
	// States reads the counters of at most 1000 guilds. It leaves out former incarnations.
	States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]State, error)
	// Members reads at most limit members of the guild (no tombstones), without their gains, in ascending order of their
	// ids, from the first id above after ("" from the start). It returns ErrStale for a former incarnation.
	Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]Row, error)
	// Deleted lists at most limit deleted guilds whose members Purge has not deleted yet. Those deleted longest ago come first.
	Deleted(ctx context.Context, limit int) ([]leaderboard.GuildRef, error)
	// Purge deletes at most limit rows that nothing needs any more, and returns how many: rows of
	// deleted guilds, which Deleted lists until all are gone; rows older than keep says; the change
	// log of before yesterday, except its newest entry; and old uses, history and secrets of keys.
	Purge(ctx context.Context, limit int, keep Keep) (int, error)
}

// KeptRanks is how many ranks of a closed period's board are kept as long as their guild.
const KeptRanks = 100

// Keep says how long Purge keeps data.
type Keep struct {
	// Tombstones are kept for this long after they were written, Requests for this long after they were made; 0 keeps all requests.
	Tombstones, Requests time.Duration
	// History is how many days Purge keeps gains that no open period needs, ranks below KeptRanks
	// of closed periods, and the totals of periods without a board or members; 0 keeps them all.
	History int
	// Audit is how many days records of the audit log are kept; 0 keeps them all.
	Audit int
}

// Page is the result of ReadChanges for a guild.
type Page struct {
	Batch Batch     // without rows and records, nothing waits; without Guild, the guild is not loaded
	At    time.Time // when it was read, by the live store's clock
	Err   error
}

// More reports whether more changes waited than the page has.
func (p Page) More() bool { return p.Batch.Rev < p.Batch.AsOf }

// Load identifies one load of a guild in the live store.
type Load struct {
	Guild leaderboard.GuildRef
	Epoch int64
}

// Seen is the result of a survey.
type Seen struct {
	Changed    []id.Guild // guilds with changes to archive, or that cannot be read
	Unverified []id.Guild // guilds not compared with the archive since the live store came back; in no other list
	// Cold are fully archived guilds without a noted use in the requested time
	// (0: there are none). If a guild has no noted use yet, the survey notes one.
	Cold []Quiet
	// Warm are the other fully archived guilds.
	Warm []Quiet
}

// Live is what snapshots need of the live store. Its methods return ErrNotLoaded (package leaderboard) if it does not hold the incarnation.
type Live interface {
	// ChangedGuilds empties the index of guilds with changed members, and returns them by the time of their first change.
	ChangedGuilds(ctx context.Context) ([]id.Guild, error)
	// LoadedGuilds lists every guild in the store, changed or not. With an error it also returns the guilds found so far.
	LoadedGuilds(ctx context.Context) ([]id.Guild, error)
	// Survey inspects guilds, each in a step of its own. An error concerns the live store as a whole; the result then has the guilds seen so far.
	Survey(ctx context.Context, guilds []id.Guild, idle time.Duration) (Seen, error)
	// NoteUses notes that the guilds are used now, by the live store's clock. It ignores guilds that the store does not hold.
	NoteUses(ctx context.Context, guilds []id.Guild) error
	// Evict removes the guild, except for its events and the records of its requests, in one atomic step. It does so
	// only if the guild is still cold and as the archive holds it (c.State). Its next load continues its log of events.
	Evict(ctx context.Context, c Quiet, idle time.Duration) (gone bool, err error)
	// MarkChanged puts guilds back into the index. After an error some may be missing there.
	MarkChanged(ctx context.Context, guilds ...id.Guild) error

	// ReadChanges reads of each guild about size members that have waited longest for a snapshot, with their entries, or Deleted
	// for those without one. It notes that these changes are about to be archived; they wait until EndChanges. Each guild is one
	// atomic step. It reads what it can of a damaged entry, and names it in Mended. It returns ErrUnverified, with Batch.Guild,
	// for a guild that must be loaded first. It does not notice that the live store has gone back in time; WriteBatches does.
	ReadChanges(ctx context.Context, guilds []id.Guild, size int) []Page
	// EndChanges notes that batches of ReadChanges were committed, so that their members no longer wait.
	// more says which guilds have other waiting changes. Steps, results and errors are as in ReadChanges.
	EndChanges(ctx context.Context, batches []Batch) (more []bool, errs []error)
	// NoteUnsaved notes users of l for the next snapshot though they have not changed, with or without an entry. It does so in pieces,
	// each in an atomic step. It returns the rev that the live store knows to be archived (Batch.Archived), even for no users.
	NoteUnsaved(ctx context.Context, l Load, users []id.User) (archived int64, err error)
	// NoteAllUnsaved does so for all members in the live store.
	NoteAllUnsaved(ctx context.Context, l Load) error
	// LowerArchived changes the rev that is known to be archived from from to to, in one atomic
	// step. lowered is false if it is no longer from. All members must have been noted before.
	LowerArchived(ctx context.Context, l Load, from, to int64) (lowered bool, err error)

	// Distrust marks the guild as not verified, because the archive rejected a batch and so holds changes that the live
	// store lacks. It also undoes the note of reading that batch; otherwise the live store would seem to have those changes.
	Distrust(ctx context.Context, refused Batch) error
	// Backlog sums up the unarchived changes of the guilds in the index and of those underway.
	Backlog(ctx context.Context, underway []id.Guild) (Backlog, error)

	// Drop removes all of the guild's keys if it holds this incarnation or none.
	Drop(ctx context.Context, g leaderboard.GuildRef) error
}

// Quiet is a loaded guild that is fully archived. State is what the live store knows to be archived.
type Quiet struct {
	Guild leaderboard.GuildRef
	State State
}

// Backlog counts the changes that the live store holds and the archive lacks.
type Backlog struct {
	Members int64         // changed since they were last archived
	Oldest  time.Duration // since the oldest of these changes, or somewhat longer; 0 if there is none
}

// ErrUnverified says that the live store may be older than the archive: nobody may use the guild until a hydration has compared them.
var ErrUnverified = errors.New("the guild was not yet compared with the archive")
