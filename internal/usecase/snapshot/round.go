package snapshot

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/id"
)

// round is what one round knows. mu guards it and Writer.failing while guilds are written at the same time.
type round struct {
	*Writer
	hurry bool // nothing is left for later
	done  map[id.Guild]bool

	mu     sync.Mutex
	failed []id.Guild
	again  []id.Guild // written, and more has changed
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
	var work errgroup.Group
	work.SetLimit(groupsAtOnce)
	for part := range slices.Chunk(fresh, groupGuilds) {
		work.Go(func() error {
			for _, p := range r.writeGroup(ctx, part) {
				r.report(ctx, r.writeRest(ctx, p), p.Batch.Guild.ID)
			}
			return nil
		})
	}
	_ = work.Wait() // each guild is reported
}

// goesOn notes that more of a guild has changed meanwhile, for the next round. On a cluster nobody else tells the index.
func (r *round) goesOn(g id.Guild) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again = append(r.again, g)
}

// report notes how it went with guilds. Those that fail for one reason are one line in the log: a warning the first time, since a server may
// just have restarted, an error the second time in a row, and none after that.
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
	for _, g := range guilds {
		r.failing[g]++
	}
	for times, level := range map[int]slog.Level{1: slog.LevelWarn, 2: slog.LevelError} {
		news := slices.DeleteFunc(slices.Clone(guilds), func(g id.Guild) bool { return r.failing[g] != times })
		if len(news) > 0 {
			r.log.Log(ctx, level, "a guild could not be written to the archive; its changes wait in Redis and are tried again every interval: look at the error, and after the archive",
				"guild", news[0], "othersLikeIt", len(news)-1, "error", err)
		}
	}
}

// putBack puts the guilds of which something waits back into the index, though the round may be over; what cannot be put back, the next
// round looks for.
func (r *round) putBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTime)
	defer cancel()
	if waiting := slices.Concat(r.failed, r.again); len(waiting) > 0 && r.live.MarkChanged(ctx, waiting...) != nil {
		r.rounds = 0
	}
}
