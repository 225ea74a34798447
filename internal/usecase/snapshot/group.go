package snapshot

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// groupGuilds is how many guilds are asked together what changed.
	groupGuilds = 100
	// smallFlush is up to how many changed members a guild goes to the archive with others.
	smallFlush = 100
	// verifiedAtOnce is how many guilds of a group are compared with the archive at the same time, which shares its queries. One that
	// went back in time is loaded, members and all, so they are not all of the group.
	verifiedAtOnce = 16
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
	doubtful []id.Guild // of transactions that failed as a whole, or of which a flush left a set behind, perhaps because it failed
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

// writeGroup writes those of the guilds of which little has changed, each with the same checks as writeGuild, many in each
// step. Every guild is reported but for those that it returns.
//
// Nothing is set aside: what was read still waits until EndChanges finds that the guild has not changed since. One that has is
// written with the others a second time, and by itself when it has changed again.
func (r *round) writeGroup(ctx context.Context, guilds []id.Guild) left {
	g := &group{round: r, ctx: ctx, failed: map[string]failure{}}
	g.write(guilds)
	if second := g.again; len(second) > 0 {
		g.again = nil
		g.write(second)
		for _, guild := range g.again {
			g.left.alone = append(g.left.alone, alone{guild, false})
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
	case errors.Is(err, ErrStale), errors.Is(err, ErrArchiveBehind), errors.Is(err, ErrBadRow), errors.Is(err, ErrUnverified), errors.Is(err, leaderboard.ErrNotLoaded):
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
	changed, unverified := g.read(guilds)
	if verified := g.verify(unverified); len(verified) > 0 {
		more, again := g.read(verified)
		for _, guild := range again {
			g.left.alone = append(g.left.alone, alone{guild.ID, true})
		}
		changed = append(changed, more...)
	}
	for from, to, rows := 0, 0, 0; from < len(changed); from, rows = to, 0 {
		for to < len(changed) && (to == from || rows+len(changed[to].Rows) <= batchSize) {
			rows += len(changed[to].Rows)
			to++
		}
		g.archiveAll(changed[from:to])
	}
}

// verify has guilds compared with the archive, many at the same time, and returns those that are loaded then.
func (g *group) verify(unverified []leaderboard.GuildRef) (verified []id.Guild) {
	errs := make([]error, len(unverified))
	var loads errgroup.Group
	loads.SetLimit(verifiedAtOnce)
	for i, guild := range unverified {
		loads.Go(func() error {
			errs[i] = g.loader.Load(g.ctx, guild)
			return nil
		})
	}
	_ = loads.Wait() // each has its error
	for i, guild := range unverified {
		switch {
		case errs[i] == nil:
			verified = append(verified, guild.ID)
		case errors.Is(errs[i], leaderboard.ErrGuildMoved):
			g.left.alone = append(g.left.alone, alone{guild.ID, true})
		default:
			g.fail(guild.ID, errs[i])
		}
	}
	return verified
}

// read reads what changed, but of guilds that have to be verified first.
func (g *group) read(guilds []id.Guild) (changed []Batch, unverified []leaderboard.GuildRef) {
	for i, c := range g.live.ReadChanges(g.ctx, guilds, smallFlush) {
		guild := guilds[i]
		switch {
		case errors.Is(c.Err, ErrUnverified):
			unverified = append(unverified, c.Batch.Guild)
		case !g.goesOn(guild, c.Err):
		case c.Left:
			g.left.doubtful = append(g.left.doubtful, guild)
		case c.Many:
			g.left.alone = append(g.left.alone, alone{guild, false})
		case len(c.Batch.Rows) == 0:
			g.report(g.ctx, nil, guild)
		default:
			changed = append(changed, c.Batch)
		}
	}
	return changed, unverified
}

// archiveAll writes what changed in one transaction.
func (g *group) archiveAll(changed []Batch) {
	errs, err := g.archive.WriteBatches(g.ctx, g.lease, changed)
	if err != nil {
		g.refused(changed, err)
		return
	}
	var written []Batch
	for i, b := range changed {
		if errors.Is(errs[i], ErrStale) {
			// Reading the batch has noted its rev as on its way: who compares the guild with the archive must not find that.
			if err := distrust(g.ctx, g.live, Flush{Guild: b.Guild, Epoch: b.Epoch}, &b); err != nil {
				errs[i] = err
			}
		}
		if g.goesOn(b.Guild.ID, errs[i]) {
			written = append(written, b)
			g.bad.mended(b)
			members.Add(float64(len(b.Rows)))
		}
	}
	if len(written) > 0 {
		g.end(written)
	}
}

// refused is for guilds whose transaction failed. One of several may be the reason, unless the error says that it is none.
func (g *group) refused(changed []Batch, err error) {
	for _, b := range changed {
		guild := b.Guild.ID
		if len(changed) > 1 && !errors.Is(err, ErrLeaseLost) && g.ctx.Err() == nil {
			g.left.doubtful = append(g.left.doubtful, guild)
		} else {
			g.goesOn(guild, err)
		}
	}
}

func (g *group) end(written []Batch) {
	more, errs := g.live.EndChanges(g.ctx, written)
	for i, b := range written {
		guild := b.Guild.ID
		switch {
		case !g.goesOn(guild, errs[i]):
		case more[i]:
			g.again = append(g.again, guild)
		default:
			g.report(g.ctx, nil, guild)
		}
	}
}
