package snapshot

import (
	"context"
	"slices"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// compareSize is how many guilds one query of the archive compares.
	compareSize = 500
	// membersPage is how many archived members one query reads: less than 1 MB.
	membersPage = 2000
)

// rewrite notes all members of a guild for the next snapshot, because the archive has lost commits:
// Postgres failed over to a lagging standby, lost power, or was restored from a backup. The live store
// holds all members. Those that only the archive has were deleted, and need their tombstone again.
//
// The live store learns last that the archive holds less. Until then the archive rejects
// the guild's batches: if rewrite is cut off, the next rejection starts it again.
func (w *Writer) rewrite(ctx context.Context, l Load) error {
	// The order matters: read the confirmed rev before the archive's.
	known, err := w.live.NoteUnsaved(ctx, l, nil)
	if err != nil {
		return err
	}
	state, err := w.archive.State(ctx, l.Guild)
	if err != nil || state.Epoch != l.Epoch || state.Archived >= known {
		return err // without an error: the lost changes still wait, and are written again
	}
	if err := w.live.NoteAllUnsaved(ctx, l); err != nil {
		return err
	}
	// The archive gets no new members meanwhile, since it accepts no batch of the guild.
	for users := []id.User{""}; len(users) > 0; {
		rows, err := w.archive.Members(ctx, l.Guild, users[len(users)-1], membersPage)
		if err != nil {
			return err
		}
		users = users[:0]
		for i := range rows {
			users = append(users, rows[i].UserID)
		}
		if _, err := w.live.NoteUnsaved(ctx, l, users); err != nil {
			return err
		}
	}
	lowered, err := w.live.LowerArchived(ctx, l, known, state.Archived)
	if err != nil || !lowered {
		return err
	}
	archiveWentBack.Inc()
	w.log.ErrorContext(ctx, "the archive has gone back in time: it has lost committed changes of a guild; the whole guild is written again from Redis. "+
		"Keep Redis running, and find out why Postgres lost it: see docs/durability.md",
		"guild", l.Guild.ID, "epoch", l.Epoch, "committedRev", known, "archivedRev", state.Archived)
	return nil
}

// compare checks that the archive still holds what it confirmed of fully archived guilds, and rewrites the
// others. Such guilds may never change, so no rejected batch would reveal a loss. If there are many to rewrite,
// the sweep's next shares compare the rest. If the archive does not respond, they wait for the next sweep.
func (r *round) compare(ctx context.Context, quiet []Quiet) {
	var behind []*task
	for part := range slices.Chunk(quiet, compareSize) {
		guilds := make([]leaderboard.GuildRef, len(part))
		for i, q := range part {
			guilds[i] = q.Guild
		}
		states, err := r.archive.States(ctx, guilds)
		if err != nil {
			r.fail(ctx, err)
			return
		}
		for _, q := range part {
			if s, there := states[q.Guild]; there && s.Epoch == q.State.Epoch && s.Archived < q.State.Archived {
				behind = append(behind, &task{guild: q.Guild.ID, Page: Page{Batch: Batch{Guild: q.Guild, Epoch: q.State.Epoch}, Err: ErrArchiveBehind}})
			}
		}
	}
	deadline := time.Now().Add(r.interval / 4)
	for part := range slices.Chunk(behind, fitsAtOnce) {
		if r.hurry || time.Now().Before(deadline) {
			r.do(ctx, part)
			continue
		}
		for _, t := range part {
			r.sweeper.unswept = append(r.sweeper.unswept, t.guild)
		}
	}
	r.sweeper.share = max(r.sweeper.share, shareOf(r.sweeper.unswept))
}
