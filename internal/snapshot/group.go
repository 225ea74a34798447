package snapshot

import (
	"context"
	"errors"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
)

const (
	// groupGuilds is how many guilds are asked together what changed.
	groupGuilds = 100
	// smallFlush is up to how many changed members a guild goes to the archive with others.
	smallFlush = 100
)

// group is some guilds on their way to the archive together.
type group struct {
	*round
	ctx    context.Context
	left   left
	again  []id.Guild // written, and more may have changed
	failed map[string]failure
}

// left is what a group leaves to be written one by one.
type left struct {
	alone    []alone
	doubtful []id.Guild // of transactions that failed as a whole
}

// alone is a guild of which much has changed, or that does not fit the archive. With leftover, an earlier flush may have left
// its set behind.
type alone struct {
	guild    id.Guild
	leftover bool
}

// failure is what several guilds may share.
type failure struct {
	err    error
	guilds []id.Guild
}

// writeGroup writes those of the guilds of which little has changed, each by the same steps as writeGuild and with the same
// checks, many in each step. Every guild is reported but for those that it returns.
func (r *round) writeGroup(ctx context.Context, guilds []id.Guild) left {
	g := &group{round: r, ctx: ctx, failed: map[string]failure{}}
	g.write(guilds)
	if second := g.again; len(second) > 0 {
		// What an earlier flush had left behind came first.
		g.again = nil
		g.write(second)
		for _, guild := range g.again {
			g.left.alone = append(g.left.alone, alone{guild, true})
		}
	}
	for _, f := range g.failed {
		r.report(ctx, f.err, f.guilds...)
	}
	return g.left
}

func (g *group) fail(guild id.Guild, err error) {
	f := g.failed[err.Error()]
	g.failed[err.Error()] = failure{err, append(f.guilds, guild)}
}

// goesOn takes a guild that came to an error out of the group.
func (g *group) goesOn(guild id.Guild, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, ErrUnverified), errors.Is(err, ErrStale), errors.Is(err, ErrBadRow), errors.Is(err, leaderboard.ErrNotLoaded):
		g.left.alone = append(g.left.alone, alone{guild, true})
	default:
		g.fail(guild, err)
	}
	return false
}

func (g *group) write(guilds []id.Guild) {
	if g.ctx.Err() != nil {
		for _, guild := range guilds {
			g.fail(guild, context.Cause(g.ctx))
		}
		return
	}
	small := g.fitting(g.begin(guilds))
	for from, to, rows := 0, 0, 0; from < len(small); from, rows = to, 0 {
		for to < len(small) && (to == from || rows+len(small[to].Users) <= batchSize) {
			rows += len(small[to].Users)
			to++
		}
		g.archiveAll(small[from:to])
	}
}

// begin sets aside what changed.
func (g *group) begin(guilds []id.Guild) (small []Begun) {
	for i, b := range g.live.BeginFlushes(g.ctx, guilds, smallFlush) {
		switch {
		case !g.goesOn(guilds[i], b.Err):
		case !b.OK:
			g.report(g.ctx, nil, guilds[i])
		case b.Flush.Size > smallFlush:
			g.left.alone = append(g.left.alone, alone{guilds[i], b.Left})
		default:
			small = append(small, b)
		}
	}
	return small
}

// fitting returns those that are of the archive's incarnation and epoch.
func (g *group) fitting(small []Begun) (fit []Begun) {
	if len(small) == 0 {
		return nil
	}
	refs := make([]leaderboard.GuildRef, len(small))
	for i := range small {
		refs[i] = small[i].Flush.Guild
	}
	states, err := g.archive.States(g.ctx, refs)
	for _, b := range small {
		state, there := states[b.Flush.Guild]
		wrong := err
		if err == nil && (!there || state.Epoch != b.Flush.Epoch) {
			wrong = ErrStale
		}
		if g.goesOn(b.Flush.Guild.ID, wrong) {
			b.Flush.Archived = state.Archived
			fit = append(fit, b)
		}
	}
	return fit
}

// archiveAll writes what was set aside in one transaction.
func (g *group) archiveAll(small []Begun) {
	batches, errs := g.live.ReadBatches(g.ctx, small)
	var read []Begun
	var written []Batch
	for i, b := range small {
		if g.goesOn(b.Flush.Guild.ID, errs[i]) {
			read, written = append(read, b), append(written, batches[i])
		}
	}
	if len(written) == 0 {
		return
	}
	errs, err := g.archive.WriteBatches(g.ctx, g.lease, written)
	if err != nil {
		g.refused(read, err)
		return
	}
	var ended []Begun
	var revs []int64
	for i, b := range read {
		if g.goesOn(b.Flush.Guild.ID, errs[i]) {
			ended, revs = append(ended, b), append(revs, written[i].Rev)
			g.bad.mended(written[i])
			members.Add(float64(len(written[i].Rows)))
		}
	}
	if len(ended) > 0 {
		g.end(ended, revs)
	}
}

// refused is for guilds whose transaction failed. One of several may be the reason, unless the error says that it is none.
func (g *group) refused(guilds []Begun, err error) {
	for _, b := range guilds {
		guild := b.Flush.Guild.ID
		if len(guilds) > 1 && !errors.Is(err, ErrLeaseLost) && g.ctx.Err() == nil {
			g.left.doubtful = append(g.left.doubtful, guild)
		} else {
			g.goesOn(guild, err)
		}
	}
}

// end drops what was set aside and is archived now, at those revs.
func (g *group) end(guilds []Begun, revs []int64) {
	flushes := make([]Flush, len(guilds))
	for i := range guilds {
		flushes[i] = guilds[i].Flush
	}
	for i, err := range g.live.EndFlushes(g.ctx, flushes, revs) {
		guild := flushes[i].Guild.ID
		switch {
		case !g.goesOn(guild, err):
		case guilds[i].Left:
			g.again = append(g.again, guild)
		default:
			g.report(g.ctx, nil, guild)
		}
	}
}
