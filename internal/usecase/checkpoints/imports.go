package checkpoints

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// Import is an import that has begun.
type Import struct {
	ID         string     `json:"id"` // also the prefix of its requests' names
	Checkpoint Checkpoint `json:"checkpoint"`
	Continued  bool       `json:"continued"` // it began before, and was cut off
}

// NotedImport is the archive's record of an import whose files must not be applied twice.
type NotedImport struct {
	ID         string
	Checkpoint string // the id of the checkpoint made before the import
	Plan       string
	Started    time.Time
	Age        time.Duration
	Finished   bool
}

// BeginImport makes a checkpoint and names an import. If such an import of the files was cut off, it continues under the old name.
// Unless Again is set, it returns a Conflict if the import was finished, is too old to continue, or began with another plan.
func (c *Checkpoints) BeginImport(ctx context.Context, gid id.Guild, b importer.Begin) (begun Import, err error) {
	g, err := c.archive.Guild(ctx, gid)
	if err != nil {
		return begun, asFault("begin an import", err)
	}
	var before *NotedImport
	if b.Files != "" {
		if before, err = c.archive.Import(ctx, leaderboard.Ref(g), b.Files); err != nil {
			return begun, asFault("begin an import", err)
		}
	}
	switch {
	case before == nil:
		before = &NotedImport{}
	case c.recent(before) && before.Plan == b.Plan:
		return c.continueImport(ctx, gid, before)
	case !b.Again:
		return begun, c.alreadyImported(before)
	}
	if begun.Checkpoint, err = c.Create(ctx, gid, "Before an import", true); err != nil {
		return begun, err
	}
	begun.ID = rand.Text()
	if b.Files != "" {
		noted := NotedImport{ID: begun.ID, Checkpoint: begun.Checkpoint.ID, Plan: b.Plan}
		err = c.archive.StartImport(ctx, leaderboard.Ref(g), b.Files, noted, before.ID)
	}
	return begun, asFault("begin an import", err)
}

// recent reports whether an import that was cut off can still be continued.
func (c *Checkpoints) recent(n *NotedImport) bool { return !n.Finished && n.Age < c.continueTime }

// continueImport returns the old checkpoint, or makes a new one if that was deleted.
func (c *Checkpoints) continueImport(ctx context.Context, g id.Guild, before *NotedImport) (begun Import, err error) {
	begun = Import{ID: before.ID, Continued: true}
	begun.Checkpoint, err = c.find(ctx, g, before.Checkpoint)
	if errors.Is(err, ErrUnknown) {
		begun.Checkpoint, err = c.Create(ctx, g, "Before an import", true)
		return begun, err
	}
	return begun, asFault("continue an import", err)
}

func (c *Checkpoints) alreadyImported(before *NotedImport) error {
	at := before.Started.UTC().Format(time.RFC3339)
	if before.Finished {
		return fault.Wrap(ErrImported, fault.Conflict, "These files were added to this guild already, at %s. To add them once more, say so with --again.", at)
	}
	if c.recent(before) {
		return fault.Wrap(ErrOtherPlan, fault.Conflict, "An import of these files that began at %s was cut off, and had other options or another order of "+
			"the files, or was begun on the pages or with the command, or the guild has another curve by now. To continue it, import them in the same way. Or undo its part with 'levelboard checkpoint "+
			"restore %s' and import again; or add all of them, even if some were added then, with --again.", at, before.Checkpoint)
	}
	return fault.Wrap(ErrCutOff, fault.Conflict, "An import of these files that began at %s was cut off, too long ago to be continued. Undo its part with "+
		"'levelboard checkpoint restore %s' and import again; or add all of them, even if some were added then, with --again.", at, before.Checkpoint)
}

// FinishImport records that an import is done, once the archive holds every change made before
// the call. Followers get a reset. members is how many were imported, for the audit log.
func (c *Checkpoints) FinishImport(ctx context.Context, gid id.Guild, importID string, members int64) error {
	g, err := c.archive.Guild(ctx, gid)
	if err == nil {
		err = c.archived(ctx, leaderboard.Ref(g))
	}
	if err == nil {
		err = c.archive.FinishImport(ctx, leaderboard.Ref(g), importID, members)
	}
	return asFault("finish an import", err)
}
