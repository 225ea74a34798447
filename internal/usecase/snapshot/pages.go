package snapshot

import (
	"context"
	"errors"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

const (
	// pageSize bounds the members of a guild that one script reads and one transaction writes,
	// groupRows all rows of a group. They bound the writer's memory, however many members changed.
	pageSize  = 1000
	groupRows = 10 * pageSize
	// groupGuilds is how many guilds are read together.
	groupGuilds = 100
	// fitsAtOnce is how many guilds of a group are compared with the archive at the same time.
	// It is less than a group, since a guild that went back in time is loaded as a whole.
	fitsAtOnce = 16
	// mostFits bounds how often fit is called for a guild in one round.
	mostFits = 4
	// doubts is how many guilds must fail one by one before the archive itself counts as failing.
	doubts = 2
)

// writePages writes a page of each guild to the archive, in transactions of bounded size, and then notes in the live store what was committed.
func (r *round) writePages(ctx context.Context, tasks []*task) {
	guilds := make([]id.Guild, len(tasks))
	for i, t := range tasks {
		guilds[i] = t.guild
	}
	pages := r.live.ReadChanges(ctx, guilds, min(pageSize, groupRows/len(guilds)))
	var read, part []*task
	rows := 0
	for i, t := range tasks {
		t.next(pages[i])
		t.Batch = r.bad.Good(t.Batch)
		size := len(t.Batch.Rows) + len(t.Batch.Records)
		if t.Err != nil || size == 0 && t.Batch.AsOf == 0 { // a change of hidden users is a page without members
			continue
		}
		if rows += size; rows > pageSize && len(part) > 0 {
			r.commit(ctx, part)
			part, rows = nil, size
		}
		part, read = append(part, t), append(read, t)
	}
	if len(part) > 0 {
		r.commit(ctx, part)
	}
	r.end(ctx, read)
}

// next sets the page. After the last page, no change from before the round's first page still waits.
func (t *task) next(p Page) {
	t.Page = p
	switch {
	case p.Err != nil:
	case t.first == nil || p.Batch.AsOf == 0: // nothing waits any more
		t.first = &p
	case p.Batch.Rev >= t.first.Batch.AsOf && !p.Batch.Doubtful:
		t.Batch.Before = t.first.At
	}
}

// commit writes pages in one transaction. If that fails as a whole, it tries each page alone, since one guild may be the reason.
func (r *round) commit(ctx context.Context, tasks []*task) {
	batches := make([]Batch, len(tasks))
	for i, t := range tasks {
		batches[i] = t.Batch
	}
	errs, err := r.archive.WriteBatches(ctx, r.lease.Lease(), batches)
	if err != nil && len(tasks) > 1 && !errors.Is(err, lease.ErrLost) && ctx.Err() == nil {
		r.commitEach(ctx, tasks)
		return
	}
	for i, t := range tasks {
		if t.Err = err; err == nil {
			t.Err = errs[i]
		}
		if t.Err == nil {
			members.Add(float64(len(t.Batch.Rows)))
		}
	}
}

// commitEach writes pages one by one. If the first few all fail, it blames the archive and skips the others.
func (r *round) commitEach(ctx context.Context, tasks []*task) {
	failed := 0
	for i, t := range tasks {
		if i >= doubts && failed == i {
			t.Err = tasks[0].Err
			failed++
			continue
		}
		t.Batch.Known = max(t.Batch.Known, t.Batch.Rev) // the failed transaction may have committed, with only its answer lost
		r.commit(ctx, []*task{t})
		if t.Err != nil && !misfit(t.Err) {
			failed++
		}
	}
}

// end notes in the live store which pages are archived. Guilds with more changes go
// back into the index, for the next round: on a cluster nothing else puts them there.
func (r *round) end(ctx context.Context, tasks []*task) {
	var written []*task
	var batches []Batch
	for _, t := range tasks {
		if t.Err == nil {
			written, batches = append(written, t), append(batches, t.Batch)
		}
	}
	if len(written) == 0 {
		return
	}
	more, errs := r.live.EndChanges(ctx, batches)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, t := range written {
		if t.Err = errs[i]; more[i] {
			r.again = append(r.again, t.guild)
		}
	}
}

// misfit reports whether an error says that a guild does not fit the archive, so that fit may help.
func misfit(err error) bool {
	return errors.Is(err, ErrStale) || errors.Is(err, ErrArchiveBehind) || errors.Is(err, ErrUnverified) || errors.Is(err, leaderboard.ErrNotLoaded)
}

// fit makes a guild fit the archive, and reports whether to read it again.
func (r *round) fit(ctx context.Context, t *task) (again bool) {
	t.fits++
	t.first = nil
	switch guild := t.Batch.Guild; {
	case errors.Is(t.Err, leaderboard.ErrNotLoaded):
		// The guild was deleted, and its changes are void; or it was loaded or verified meanwhile, and waits for the next round.
		t.Err = r.live.MarkChanged(ctx, t.guild)
		return false
	case errors.Is(t.Err, ErrUnverified):
		t.Err = r.loader.Load(ctx, guild)
		if errors.Is(t.Err, leaderboard.ErrGuildMoved) {
			t.Err = r.live.Drop(ctx, guild)
			return false
		}
		return t.Err == nil
	case errors.Is(t.Err, ErrArchiveBehind):
		t.Err = r.rewrite(ctx, Load{Guild: guild, Epoch: t.Batch.Epoch})
	default:
		// The live store has gone back in time unnoticed, or the guild was deleted. Distrust also undoes the
		// note that this batch is about to be archived, which would mislead the comparison with the archive.
		t.Err = r.live.Distrust(ctx, t.Batch)
	}
	if errors.Is(t.Err, leaderboard.ErrNotLoaded) || errors.Is(t.Err, ErrStale) {
		t.Err = nil // the next page shows the current state
	}
	return t.Err == nil
}
