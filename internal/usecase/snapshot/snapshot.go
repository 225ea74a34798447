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

// Row is a member as the archive holds it. With Deleted it is a tombstone: only UserID counts.
type Row struct {
	leaderboard.Member
	CooldownUntil time.Time // zero when there is none; milliseconds
	Deleted       bool
	Absent        bool // the member is not present; else as others are
	// Gains are the member's gains by day, each day once: the last days, and older days that may not be archived yet. The archive also holds earlier
	// ones.
	Gains []period.Gain
	// Fresh says that the entry was made after a deletion that may not be archived yet: the archive's gains of other days belong to the deleted entry.
	Fresh bool
	// OnBoards are the member's gains in each of period.Boards; set only when the row is loaded.
	OnBoards []int64
}

// State is what the archive knows of a guild's snapshots.
type State struct {
	Epoch    int64 // raised by each hydration, before it loads
	Archived int64 // the highest rev that any committed batch carried
	// Verified is how many of the last epochs only verified the guild, with nothing committed since: a live store of any of them, or of the one
	// before, is not older than the archive.
	Verified int64
}

// Batch is some changed members of one guild, read from the live store in one atomic step. No user stands in it twice.
type Batch struct {
	Guild leaderboard.GuildRef
	Epoch int64
	// Rev bounds the batch, which holds every member that changed up to it and was not archived since.
	Rev int64
	// Known is the highest rev that the live store knew to be in the archive, or on its way there, before this batch was
	// read. When the archive holds a higher one, the live store has gone back in time.
	Known int64
	// Archived is the highest rev that the archive confirmed. If it holds a lower one, the archive itself has gone back in time. 0 skips
	// the check.
	Archived int64
	// AsOf is the guild's rev when the batch was read: a row has all changes of its member up to it. 0 stands for Rev.
	AsOf int64
	// Doubtful says that an earlier batch may not have been committed. A member that has changed since may be missing here although an earlier
	// change is at most Rev, so no record is known to be archived with its effects.
	Doubtful bool
	Rows     []Row
	// Records are the oldest of the guild's journal. A batch that lacks a part of the journal has no rows and no Rev.
	Records []Record
	// Until is where the journal continues after Records.
	Until string
	// Before is the earliest possible time of the oldest change that still waits once the batch is archived; zero when not known.
	Before time.Time
	// Mended are users in Rows whose entry was damaged: the row holds its readable parts.
	Mended []id.User
}

// Record is an entry of a guild's journal: a named request and its effects, a record of the audit log, or both for one step.
type Record struct {
	Name, Request leaderboard.Digest // zero when there is only Audit
	Rev           int64              // the guild's, with the change
	At            time.Time          // milliseconds
	Outcome       string             // as the live store recorded it
	Users         []id.User          // the members that it changed
	Rest          bool               // of a step that had changed others before
	Audit         *audit.Record
}

// Errors of an Archive.
var (
	// ErrStale says that the guild was deleted or created again, that its epoch moved on, or that the archive holds
	// changes that the live store lacks. Nothing was written.
	ErrStale = errors.New("the archive has moved on from this state of the guild")
	// ErrArchiveBehind says that the archive lost commits of this load of the guild, as after a failover to a lagging standby. Nothing
	// was written. The live store holds all of it (Writer.rewrite).
	ErrArchiveBehind = errors.New("the archive has lost what it had committed of the guild")
)

// Archive is what snapshots need of Postgres or SQLite.
type Archive interface {
	lease.Store
	// WriteBatches writes batches of different guilds, 5000 good rows (BadRows.Good) at most, in one transaction under the lease. A row replaces an
	// older one only (epoch, then rev, which is the batch's AsOf), a record any other of its name. Archived becomes Rev when that is higher.
	//
	// With a row that is written, each of its Gains replaces that of its day; with Fresh or Deleted the member's gains of all other days go.
	//
	// errs says why a batch was left out: ErrStale when incarnation or epoch differ, or Archived is above b.Known; ErrArchiveBehind when these fit
	// and Archived is below b.Archived. With err nothing was written, or the outcome is unknown: lease.ErrLost when the fence differs.
	WriteBatches(ctx context.Context, l lease.Lease, batches []Batch) (errs []error, err error)
	// State reads a guild's counters. ErrStale when this incarnation does not exist.
	State(ctx context.Context, g leaderboard.GuildRef) (State, error)
	// States reads the counters of at most 1000 guilds. Those whose incarnation does not exist are left out.
	States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]State, error)
	// Members reads the guild's members (no tombstones) in ascending order of their ids, after the id after ("" from the
	// start), at most limit, without their gains. ErrStale when this incarnation does not exist.
	Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]Row, error)
	// Deleted lists deleted guilds whose members Purge has not deleted yet, the ones deleted longest ago first, at most limit.
	Deleted(ctx context.Context, limit int) ([]leaderboard.GuildRef, error)
	// Purge deletes at most limit rows that nothing needs any more: of deleted guilds, which Deleted lists until all are gone, older ones than keep
	// says, the change log of before yesterday except its newest entry, and old uses, history and secrets of keys. It returns how many.
	Purge(ctx context.Context, limit int, keep Keep) (int, error)
}

// KeptRanks is how many ranks of a closed period's board are kept as long as their guild.
const KeptRanks = 100

// Keep says for how long Purge keeps data.
type Keep struct {
	// Tombstones are kept for this long after they were written, Requests for this long after they were made; 0 keeps all requests.
	Tombstones, Requests time.Duration
	// History is how many days these are kept: gains that no open period needs, ranks below KeptRanks of closed periods, and the totals of periods
	// without a board or members; 0 keeps them all.
	History int
	// Audit is how many days records of the audit log are kept; 0 keeps them all.
	Audit int
}

// Page is the answer of ReadChanges for a guild.
type Page struct {
	Batch Batch     // without rows and records, nothing waits; without Guild, the guild is not loaded
	At    time.Time // when it was read, by the live store's clock
	Err   error
}

// More reports whether more waited than is in the page.
func (p Page) More() bool { return p.Batch.Rev < p.Batch.AsOf }

// Load identifies one load of a guild in the live store.
type Load struct {
	Guild leaderboard.GuildRef
	Epoch int64
}

// Seen are the guilds that a survey reports.
type Seen struct {
	Changed    []id.Guild // something waits to be archived, or cannot be read
	Unverified []id.Guild // not compared with the archive since the live store came back, and nothing else
	// Cold are fully archived guilds without a noted use for as long as was asked (0: there are none). If a guild has no noted use
	// yet, the survey notes one.
	Cold []Quiet
	// Warm are the other guilds that are fully archived.
	Warm []Quiet
}

// Live is what snapshots need of the live store. ErrNotLoaded (package leaderboard) when it does not hold the incarnation.
type Live interface {
	// ChangedGuilds empties the index of guilds with changed members, and returns them by the time of their first change.
	ChangedGuilds(ctx context.Context) ([]id.Guild, error)
	// LoadedGuilds lists every guild that the store holds, changed or not. With an error it also returns the guilds found so far.
	LoadedGuilds(ctx context.Context) ([]id.Guild, error)
	// Survey looks at guilds, each in a step of its own. An error concerns the live store as a whole; the result then has the guilds seen so far.
	Survey(ctx context.Context, guilds []id.Guild, idle time.Duration) (Seen, error)
	// NoteUses notes that the guilds are used now, by the live store's clock. It ignores guilds that the store does not hold.
	NoteUses(ctx context.Context, guilds []id.Guild) error
	// Evict removes the guild, except for its events and the records of its requests, if it is still cold and as the archive holds it (c.State), in
	// one atomic step. Its next load continues its log of events.
	Evict(ctx context.Context, c Quiet, idle time.Duration) (gone bool, err error)
	// MarkChanged puts guilds back into the index; after an error some may not be there.
	MarkChanged(ctx context.Context, guilds ...id.Guild) error

	// ReadChanges reads of each guild the members that have waited longest for a snapshot, about size of them, with their entries, or that they have
	// none (Deleted), and notes that their changes are about to be archived: each guild in an atomic step of its own. They wait on until EndChanges. A
	// damaged entry is read as well as it can be, and is in Mended. ErrUnverified, with Batch.Guild, for a guild that must be loaded first. It does
	// not see that the live store has gone back in time; WriteBatches does.
	ReadChanges(ctx context.Context, guilds []id.Guild, size int) []Page
	// EndChanges notes that batches of ReadChanges were committed, so that their members no longer wait. more says whether other changes of a guild
	// do. Steps, answers and errors are as in ReadChanges.
	EndChanges(ctx context.Context, batches []Batch) (more []bool, errs []error)
	// NoteUnsaved notes users for the next snapshot, there or not, though they have not changed, in pieces, each in an atomic step; users are
	// the guild's, of l's epoch. It returns the rev that the live store knows to be archived (Batch.Archived), also for no users at all.
	NoteUnsaved(ctx context.Context, l Load, users []id.User) (archived int64, err error)
	// NoteAllUnsaved does so with all members that the live store holds.
	NoteAllUnsaved(ctx context.Context, l Load) error
	// LowerArchived lowers the rev that is known to be archived from from to to, in one atomic step; lowered is false if it is no longer from. All
	// members must have been noted before.
	LowerArchived(ctx context.Context, l Load, from, to int64) (lowered bool, err error)

	// Distrust marks the guild as not verified, because the archive rejected a batch and so holds changes that the live store lacks. It also undoes
	// the note of reading that batch; otherwise the live store would seem to have those changes.
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
	Oldest  time.Duration // since the oldest of those changes that was seen, or longer; 0 when there is none
}

// ErrUnverified says that the live store may be older than the archive: nobody may use the guild until a hydration has compared them.
var ErrUnverified = errors.New("the guild was not yet compared with the archive")
