// Package checkpoints copies a guild's members in the archive, replaces the
// members by such a copy, or removes all of them. It does not check the caller.
package checkpoints

import (
	"cmp"
	"context"
	"errors"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

const (
	// MaxManual is how many manual checkpoints a guild may have, and MaxAutomatic
	// how many automatic ones. One more automatic one deletes the oldest.
	MaxManual, MaxAutomatic = 20, 50
	// AutomaticTime is how long an automatic checkpoint is kept.
	AutomaticTime = 30 * 24 * time.Hour
	// MaxName is the maximum length of a checkpoint's name, in characters.
	MaxName = 100
)

// Checkpoint is a copy of all members of a guild, absent ones included.
type Checkpoint struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"` // milliseconds
	Members   int64     `json:"members"`
	Automatic bool      `json:"automatic"` // made before an import, a restore or a reset
}

// Errors of an Archive.
var (
	ErrUnknown = errors.New("there is no such checkpoint")
	ErrTooMany = errors.New("the guild has as many checkpoints made by hand as it may")
	// ErrPeriodCloses says that a period has ended and must first be closed, from the members as they are.
	ErrPeriodCloses = errors.New("a period is being closed")
	// ErrImported says that the files were added before. ErrCutOff says that their import was cut off, too long ago to continue it.
	ErrImported = errors.New("the files were imported before")
	ErrCutOff   = errors.New("an import of the files was cut off too long ago")
	// ErrOtherPlan says that an import of the files with other calls was cut off.
	ErrOtherPlan = errors.New("another import of the files was cut off")
)

// Replacement replaces the members of a guild.
type Replacement struct {
	Guild leaderboard.GuildRef
	// State is the archive's state with all changes. If the archive has another one, Replace returns ErrStale.
	State snapshot.State
	From  string        // the id of a checkpoint; empty to remove all members
	Name  string        // of the checkpoint made from the current members
	Why   events.Reason // for the event
}

// Replaced is the result of a Replacement.
type Replaced struct {
	Incarnation guild.Incarnation `json:"-"`
	Members     int64             `json:"members"`
	Before      Checkpoint        `json:"checkpoint"`
}

// Archive is what the use cases need of Postgres or SQLite. Each method is one transaction.
type Archive interface {
	Guild(ctx context.Context, g id.Guild) (*guild.Guild, error)
	// State and Members are those of snapshot.Archive.
	State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error)
	Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error)
	// HiddenAmong returns the flags of those users who are hidden.
	HiddenAmong(ctx context.Context, g id.Guild, users []id.User) (map[id.User]hidden.Flags, error)
	// Checkpoints lists a guild's checkpoints, newest first.
	Checkpoints(ctx context.Context, g id.Guild) ([]Checkpoint, error)
	// CreateCheckpoint copies the members in the archive. It returns ErrTooMany,
	// or snapshot.ErrStale for a former incarnation; then nothing has changed.
	CreateCheckpoint(ctx context.Context, g leaderboard.GuildRef, name string, automatic bool) (Checkpoint, error)
	// DeleteCheckpoint deletes a checkpoint, and leaves its copies to Purge. It returns ErrUnknown if there is none.
	DeleteCheckpoint(ctx context.Context, g id.Guild, checkpoint string) error
	// Replace makes a new incarnation of the guild with the members that r names, and a checkpoint of the previous ones. Settings,
	// closed periods and records of requests stay; gains are dropped. It appends to the change log, and leaves the old rows to Purge.
	// It returns ErrUnknown, ErrPeriodCloses, or snapshot.ErrStale if the archive's state is not r.State; then nothing has changed.
	Replace(ctx context.Context, r Replacement) (Replaced, error)
	// Import reads the record of an import into this incarnation by the SHA-256 of its files; nil if there is none.
	Import(ctx context.Context, g leaderboard.GuildRef, files string) (*NotedImport, error)
	// StartImport records an import. It replaces the one with the id replaces,
	// unless that is empty. If it returns snapshot.ErrStale, nothing has changed.
	StartImport(ctx context.Context, g leaderboard.GuildRef, files string, i NotedImport, replaces string) error
	// FinishImport records that an import is done and that followers must get a
	// reset. The audit log gets the number of members. An unknown id is no error.
	FinishImport(ctx context.Context, g leaderboard.GuildRef, importID string, members int64) error
}

// Live is what the use cases need of the live store.
type Live interface {
	hydrate.Freezer
	Drop(ctx context.Context, g leaderboard.GuildRef) error
	// Version is that of leaderboard.Board.
	Version(ctx context.Context, g leaderboard.GuildRef) (leaderboard.Version, error)
	// Moment is that of periods.Live.
	Moment(ctx context.Context, g id.Guild) (periods.Moment, error)
}

// Checkpoints holds the use cases. Its errors are faults. It is safe for concurrent use.
type Checkpoints struct {
	archive  Archive
	live     Live
	loader   leaderboard.Loader
	announce changes.Announcer
	// continueTime is how long an import that was cut off can be continued: an hour less than the records of its requests are kept.
	continueTime time.Duration
}

// Options configure Checkpoints.
type Options struct {
	OnceTTL time.Duration // how long a request may be repeated; 0: leaderboard.OnceTTL
}

// New returns the use cases.
func New(archive Archive, live Live, loader leaderboard.Loader, announce changes.Announcer, o Options) *Checkpoints {
	return &Checkpoints{
		archive: archive, live: live, loader: loader, announce: announce,
		continueTime: cmp.Or(o.OnceTTL, leaderboard.OnceTTL) - time.Hour,
	}
}

// List lists a guild's checkpoints, newest first.
func (c *Checkpoints) List(ctx context.Context, g id.Guild) ([]Checkpoint, error) {
	if _, err := c.archive.Guild(ctx, g); err != nil {
		return nil, asFault("list checkpoints", err)
	}
	found, err := c.archive.Checkpoints(ctx, g)
	return found, asFault("list checkpoints", err)
}

// Create makes a checkpoint with every change made before the call. It may have some later ones.
func (c *Checkpoints) Create(ctx context.Context, gid id.Guild, name string, automatic bool) (made Checkpoint, err error) {
	g, err := c.archive.Guild(ctx, gid)
	if err == nil {
		err = c.archived(ctx, leaderboard.Ref(g))
	}
	if err == nil {
		made, err = c.archive.CreateCheckpoint(ctx, leaderboard.Ref(g), name, automatic)
	}
	return made, asFault("make a checkpoint", err)
}

// Delete deletes a checkpoint.
func (c *Checkpoints) Delete(ctx context.Context, g id.Guild, checkpoint string) error {
	return asFault("delete a checkpoint", c.archive.DeleteCheckpoint(ctx, g, checkpoint))
}

// archived waits until the archive holds every change of the guild made before the call. If Redis loads the guild again meanwhile, its
// epoch differs and these changes may be lost; archived then waits for the changes that Redis has now. It returns snapshot.ErrNotArchived.
func (c *Checkpoints) archived(ctx context.Context, g leaderboard.GuildRef) error {
	var wait snapshot.Wait[snapshot.State]
	var wanted leaderboard.Version
	for {
		v, err := c.version(ctx, g)
		if err != nil {
			return err
		}
		if v.Epoch != wanted.Epoch {
			wanted = v
		}
		s, err := c.archive.State(ctx, g)
		if err != nil {
			return err
		}
		if s.Epoch == wanted.Epoch && s.Archived >= wanted.Rev {
			m, err := c.live.Moment(ctx, g.ID) // read after the state
			if err != nil || m.Holds == periods.InUse && m.Epoch == s.Epoch && s.Archived >= m.Doubt {
				return err
			}
		}
		if err := wait.Again(ctx, s); err != nil {
			return err
		}
	}
}

func (c *Checkpoints) version(ctx context.Context, g leaderboard.GuildRef) (v leaderboard.Version, err error) {
	err = leaderboard.InLoaded(ctx, c.loader, g, func() (err error) {
		v, err = c.live.Version(ctx, g)
		return err
	})
	return v, err
}
