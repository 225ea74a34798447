package snapshot

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// noteAnew has all of a guild written to the archive again when that has lost what it had committed: Postgres failed over to a
// standby that lagged, lost power with synchronous_commit off, or was restored from a backup. Which members were in what it lost nobody knows,
// but the live store holds all of them, since it is of the same load. So all that it holds are noted as changed, and all that the archive
// holds, since one that was deleted needs its tombstone again; what was not archived when the archive went back is noted anyway.
//
// Only then the live store learns that the archive holds less. Until then the archive takes no batch of the guild, so wherever this is cut
// off, the next one finds it again. Whatever else has become of the guild in between is not for here, and no error.
func (w *Writer) noteAnew(ctx context.Context, l Load) error {
	err := w.tryNoteAnew(ctx, l)
	if errors.Is(err, leaderboard.ErrNotLoaded) || errors.Is(err, ErrStale) {
		return nil
	}
	return err
}

func (w *Writer) tryNoteAnew(ctx context.Context, l Load) error {
	// In this order: what is known to be archived was, before the archive is asked.
	known, err := w.live.NoteAnew(ctx, l, nil)
	if err != nil {
		return err
	}
	state, err := w.archive.State(ctx, l.Guild)
	if err != nil {
		return err
	}
	if state.Epoch != l.Epoch || state.Archived >= known {
		return nil // all that was lost still waits, and is repeated
	}
	if err := w.live.NoteAllAnew(ctx, l); err != nil {
		return err
	}
	if err := w.noteArchivedAnew(ctx, l); err != nil {
		return err
	}
	lowered, err := w.live.LowerArchived(ctx, l, known, state.Archived)
	if err != nil || !lowered {
		return err
	}
	archiveWentBack.Inc()
	w.log.ErrorContext(ctx, "the archive has gone back in time: it has lost what it had committed of a guild, all of which is written to it again from Redis. "+
		"Keep Redis running, and find out why Postgres lost it: see docs/durability.md",
		"guild", l.Guild.ID, "epoch", l.Epoch, "committedRev", known, "archivedRev", state.Archived)
	return nil
}

// noteArchivedAnew notes all members that the archive holds. None comes to it meanwhile, since it takes no batch of the guild.
func (w *Writer) noteArchivedAnew(ctx context.Context, l Load) error {
	for after := id.User(""); ; {
		rows, err := w.archive.Members(ctx, l.Guild, after, hydrationPage)
		if err != nil || len(rows) == 0 {
			return err
		}
		users := make([]id.User, len(rows))
		for i := range rows {
			users[i] = rows[i].UserID
		}
		if _, err := w.live.NoteAnew(ctx, l, users); err != nil {
			return err
		}
		after = users[len(users)-1]
	}
}

// compareSize is how many guilds one query of the archive is about.
const compareSize = 500

// compare looks whether the archive holds what is known to be archived of guilds of which nothing waits, and has those written again of
// which it holds less: they may never change again, and so be in no batch that the archive could refuse. When they are many, the sweep's next
// shares are for the rest of them. Without an answer of the archive they wait for the next sweep.
func (r *round) compare(ctx context.Context, quiet []Quiet) {
	var behind []Quiet
	for part := range slices.Chunk(quiet, compareSize) {
		guilds := make([]leaderboard.GuildRef, len(part))
		for i, q := range part {
			guilds[i] = q.Guild
		}
		states, err := r.archive.States(ctx, guilds)
		if err != nil {
			r.report(ctx, err)
			return
		}
		for _, q := range part {
			if s, there := states[q.Guild]; there && s.Epoch == q.State.Epoch && s.Archived < q.State.Archived {
				behind = append(behind, q)
			}
		}
	}
	r.writeAnew(ctx, behind)
}

// writeAnew writes all of guilds of which the archive has lost something, as many as there is time to note.
func (r *round) writeAnew(ctx context.Context, behind []Quiet) {
	var mu sync.Mutex
	var noted []id.Guild
	var notes errgroup.Group
	notes.SetLimit(groupsAtOnce)
	deadline := time.Now().Add(r.interval / 4)
	for i, q := range behind {
		if i > 0 && !r.hurry && time.Now().After(deadline) {
			for _, later := range behind[i:] {
				r.sweeper.unswept = append(r.sweeper.unswept, later.Guild.ID)
			}
			r.sweeper.share = max(r.sweeper.share, shareOf(r.sweeper.unswept))
			break
		}
		notes.Go(func() error {
			err := r.noteAnew(ctx, Load{Guild: q.Guild, Epoch: q.State.Epoch})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				noted = append(noted, q.Guild.ID)
			} else {
				r.report(ctx, err, q.Guild.ID)
			}
			return nil
		})
	}
	_ = notes.Wait() // each was reported
	for _, g := range noted {
		delete(r.done, g) // nothing waited then
	}
	r.write(ctx, noted)
}
