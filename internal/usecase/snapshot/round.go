package snapshot

import (
	"context"
	"slices"
	"sync"
	"time"

	"levelboard/internal/domain/id"
)

// round is what one round knows. mu guards it and Writer.failing while guilds are written at the same time.
type round struct {
	*Writer
	due   time.Time // when the guilds are to be written; zero: as soon as can be
	hurry bool      // nothing is left for later
	done  map[id.Guild]bool

	mu     sync.Mutex
	failed []id.Guild
	first  error
}

// write writes guilds, in groups, and those that cannot go with others by themselves.
func (r *round) write(ctx context.Context, guilds []id.Guild) {
	var fresh []id.Guild
	for _, g := range guilds {
		if !r.done[g] {
			r.done[g] = true
			fresh = append(fresh, g)
		}
	}
	// What is added last is done first, and what changed first is to be.
	var work []task
	for _, part := range slices.Backward(slices.Collect(slices.Chunk(fresh, groupGuilds))) {
		work = append(work, task{len(part), func(time.Time) []task {
			left := r.writeGroup(ctx, part)
			more := r.aloneTasks(ctx, left.alone)
			if n := len(left.doubtful); n > 0 {
				more = append(more, task{n, func(time.Time) []task { return r.writeDoubtful(ctx, left.doubtful) }})
			}
			return more
		}})
	}
	run(ctx, guildsAtOnce, max(time.Until(r.due), 0), work)
}

// aloneTasks are to write guilds by themselves.
func (r *round) aloneTasks(ctx context.Context, guilds []alone) []task {
	work := make([]task, len(guilds))
	for i, a := range guilds {
		work[i] = task{1, func(due time.Time) []task {
			r.report(ctx, r.writeAlone(ctx, a, due), a.guild)
			return nil
		}}
	}
	return work
}

func (r *round) writeAlone(ctx context.Context, a alone, due time.Time) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.writeGuild(ctx, a.guild, a.leftover, due)
}

// doubts is how many doubtful guilds have to fail by themselves before it is the archive that is to blame.
const doubts = 2

// writeDoubtful writes the first guilds one after the other. When all of them fail, the others are not tried; else the archive
// takes something, and the others are left to do.
func (r *round) writeDoubtful(ctx context.Context, guilds []id.Guild) (left []task) {
	var failed int
	for i, g := range guilds[:min(len(guilds), doubts)] {
		err := r.writeAlone(ctx, alone{g, true}, time.Time{})
		if err != nil {
			failed++
		}
		if failed == doubts {
			r.report(ctx, err, guilds[i:]...)
			return nil
		}
		r.report(ctx, err, g)
	}
	var others []alone
	for _, g := range guilds[min(len(guilds), doubts):] {
		others = append(others, alone{g, true})
	}
	return r.aloneTasks(ctx, others)
}

// report notes how it went with guilds. Those that fail for one reason are one line in the log, if one of them did not fail
// before.
func (r *round) report(ctx context.Context, err error, guilds ...id.Guild) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		for _, g := range guilds {
			delete(r.failing, g)
		}
		return
	}
	failures.Add(float64(len(guilds)))
	r.failed = append(r.failed, guilds...)
	if r.first == nil {
		r.first = err
	}
	if ctx.Err() != nil {
		return
	}
	news := slices.DeleteFunc(slices.Clone(guilds), func(g id.Guild) bool { return r.failing[g] })
	for _, g := range news {
		r.failing[g] = true
	}
	if len(news) > 0 {
		r.log.ErrorContext(ctx, "a guild could not be written to the archive; its changes wait in Redis and are tried again every interval: look at the error, and after the archive",
			"guild", news[0], "othersLikeIt", len(news)-1, "error", err)
	}
}

// putBack puts the guilds that failed back into the index; what cannot be put back, the next round looks for.
func (r *round) putBack(ctx context.Context) {
	if len(r.failed) > 0 && r.reindex(ctx, r.failed) != nil {
		r.rounds = 0
	}
}
