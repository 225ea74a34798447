package snapshot

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

const (
	// pageSize bounds what one script reads and one transaction writes, and with it the writer's memory, however many members of a
	// guild changed.
	pageSize = 1000
	// groupGuilds is how many guilds are read together, and groupPage how many members of each: what more waits is written by itself.
	groupGuilds = 100
	groupPage   = 100
	// verifiedAtOnce is how many guilds of a group are compared with the archive at the same time, which shares its queries. One that
	// went back in time is loaded, members and all, so they are not all of the group.
	verifiedAtOnce = 16
	// settleAttempts bounds how often a guild that does not fit the archive is made to in one round.
	settleAttempts = 2
	// doubts is how many guilds have to fail by themselves before it is the archive that is to blame.
	doubts = 2
)

// misfit reports whether an error says that a guild does not fit the archive, and settle may help.
func misfit(err error) bool {
	return errors.Is(err, ErrStale) || errors.Is(err, ErrArchiveBehind) || errors.Is(err, ErrUnverified) || errors.Is(err, leaderboard.ErrNotLoaded)
}

// writeGroup writes a page of each guild, and returns those that are left: of which more waited, or which do not fit.
func (r *round) writeGroup(ctx context.Context, guilds []id.Guild) (left []Page) {
	if ctx.Err() != nil {
		r.report(ctx, context.Cause(ctx), guilds...)
		return nil
	}
	pages := r.read(ctx, guilds, groupPage)
	r.archivePages(ctx, pages)
	failed := map[string][]id.Guild{} // those that fail for one reason are logged together
	errs := map[string]error{}
	for i, p := range pages {
		switch {
		case misfit(p.Err), p.Err == nil && p.More():
			p.Batch.Guild.ID = guilds[i]
			left = append(left, p)
		case p.Err != nil:
			text := p.Err.Error()
			failed[text], errs[text] = append(failed[text], guilds[i]), p.Err
		default:
			r.report(ctx, nil, guilds[i])
		}
	}
	for text, guilds := range failed {
		r.report(ctx, errs[text], guilds...)
	}
	return left
}

// writeRest writes the rest of what waited when the first page of a guild was read. That page was archived, unless it has an error. What
// changes meanwhile has a higher rev, so this comes to an end however much does.
func (r *round) writeRest(ctx context.Context, p Page) error {
	g, first := p.Batch.Guild.ID, p
	for attempts := settleAttempts; ; {
		switch {
		case p.Err == nil && (p.nothing() || p.Batch.Rev >= first.Batch.AsOf):
			return nil
		case p.Err == nil:
		case !misfit(p.Err) || attempts == 0:
			return p.Err
		case errors.Is(p.Err, leaderboard.ErrNotLoaded):
			// Deleted, and what waited is void; or loaded or verified meanwhile, and then it waits for the next round.
			return r.live.MarkChanged(ctx, g)
		default:
			if err := r.settle(ctx, p); err != nil {
				return err
			}
			attempts--
			first = Page{}
		}
		pages := r.read(ctx, []id.Guild{g}, pageSize)
		if first.Batch.AsOf == 0 {
			first = pages[0]
		} else if pages[0].Batch.Rev >= first.Batch.AsOf {
			pages[0].Batch.Before = first.At
		}
		r.archivePages(ctx, pages)
		p = pages[0]
	}
}

// read reads a page of each guild. Those that were not compared with the archive since the live store came back are loaded first.
func (r *round) read(ctx context.Context, guilds []id.Guild, size int) []Page {
	pages := r.live.ReadChanges(ctx, guilds, size)
	verified := make([]bool, len(pages))
	var loads errgroup.Group
	loads.SetLimit(verifiedAtOnce)
	for i := range pages {
		if p := &pages[i]; errors.Is(p.Err, ErrUnverified) {
			loads.Go(func() error {
				p.Err = r.loader.Load(ctx, p.Batch.Guild)
				return nil
			})
			verified[i] = true
		}
	}
	_ = loads.Wait() // each has its error
	var again []id.Guild
	var at []int
	for i := range pages {
		switch p := &pages[i]; {
		case !verified[i]:
		case errors.Is(p.Err, leaderboard.ErrGuildMoved):
			*p = Page{Err: r.live.Drop(ctx, p.Batch.Guild)}
		case p.Err == nil:
			again, at = append(again, guilds[i]), append(at, i)
		}
	}
	if len(again) > 0 {
		for n, p := range r.live.ReadChanges(ctx, again, size) {
			pages[at[n]] = p
		}
	}
	return pages
}

// archivePages writes pages of different guilds to the archive, and tells the live store of those that are there.
func (r *round) archivePages(ctx context.Context, pages []Page) {
	var written, part []*Page
	rows := 0
	for i := range pages {
		p := &pages[i]
		size := len(p.Batch.Rows) + len(p.Batch.Records)
		if p.Err != nil || size == 0 {
			continue
		}
		if rows += size; rows > pageSize && len(part) > 0 {
			r.commit(ctx, part)
			part, rows = nil, size
		}
		part, written = append(part, p), append(written, p)
	}
	if len(part) > 0 {
		r.commit(ctx, part)
	}
	r.end(ctx, written)
}

// commit writes pages in one transaction. When that fails as a whole, one of several guilds may be the reason, and each is tried by itself.
func (r *round) commit(ctx context.Context, pages []*Page) {
	batches := make([]Batch, len(pages))
	for i, p := range pages {
		batches[i] = p.Batch
	}
	errs, err := r.archive.WriteBatches(ctx, r.lease.Lease(), batches)
	if err != nil && len(pages) > 1 && !errors.Is(err, lease.ErrLost) && ctx.Err() == nil {
		r.commitEach(ctx, pages)
		return
	}
	for i, p := range pages {
		if p.Err = err; err == nil {
			p.Err = errs[i]
		}
		if errors.Is(p.Err, ErrBadRow) {
			p.Err = r.writeBatch(ctx, p.Batch)
		} else if p.Err == nil {
			r.bad.mended(p.Batch)
			members.Add(float64(len(p.Batch.Rows)))
		}
	}
}

// commitEach writes pages one by one. When the first few fail it is the archive, and the others are not tried.
func (r *round) commitEach(ctx context.Context, pages []*Page) {
	failed := 0
	for i, p := range pages {
		if i == doubts && failed == doubts {
			for _, other := range pages[i:] {
				other.Err = pages[i-1].Err
			}
			return
		}
		p.Batch.Known = max(p.Batch.Known, p.Batch.Rev) // the archive may have committed it, and only the answer was lost
		r.commit(ctx, []*Page{p})
		if p.Err != nil && !misfit(p.Err) {
			failed++
		}
	}
}

// end tells the live store which pages are archived. Guilds of which more waits go back into the index, for the next round.
func (r *round) end(ctx context.Context, pages []*Page) {
	var written []*Page
	var batches []Batch
	for _, p := range pages {
		if p.Err == nil {
			written, batches = append(written, p), append(batches, p.Batch)
		}
	}
	if len(written) == 0 {
		return
	}
	more, errs := r.live.EndChanges(ctx, batches)
	for i, p := range written {
		if p.Err = errs[i]; more[i] {
			r.goesOn(p.Batch.Guild.ID)
		}
	}
}

// settle makes a guild fit the archive again: of what the archive has lost (ErrArchiveBehind), all of the guild is noted to be written again.
// What it refused (ErrStale) says that the live store has gone back in time without anybody noticing, or that the guild was deleted: it is not
// trusted until it was compared with the archive.
func (w *Writer) settle(ctx context.Context, p Page) error {
	load := Load{Guild: p.Batch.Guild, Epoch: p.Batch.Epoch}
	switch {
	case errors.Is(p.Err, ErrUnverified):
		return nil // which reading it again sees to
	case errors.Is(p.Err, ErrArchiveBehind):
		return w.noteAnew(ctx, load)
	}
	// Reading the batch has noted its rev as on its way: who compares the guild with the archive must not find that.
	if err := w.live.Distrust(ctx, p.Batch); !errors.Is(err, leaderboard.ErrNotLoaded) {
		return err
	}
	return nil // it left meanwhile, and there is nothing to take back
}
