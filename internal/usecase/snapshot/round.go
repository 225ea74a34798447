package snapshot

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/id"
)

// round is the state of one round. mu guards it while guilds are written at the same time.
type round struct {
	*Writer
	hurry bool // leave nothing for later
	taken map[id.Guild]bool

	mu     sync.Mutex
	failed map[id.Guild]error
	first  error      // an error of failed, or of the round itself
	again  []id.Guild // guilds that were written, and have more changes
}

// task is a guild that is being written, with the page read last.
type task struct {
	Page
	guild id.Guild
	// first is the page read first, or first after fit; nil until then. Later changes have a
	// higher rev and wait for the next round, so that this round ends however much changes.
	first *Page
	fits  int // how often fit was called
	more  bool
}

// write writes the guilds that this round has not taken yet.
func (r *round) write(ctx context.Context, guilds []id.Guild) {
	var tasks []*task
	for _, g := range guilds {
		if !r.taken[g] {
			r.taken[g] = true
			tasks = append(tasks, &task{guild: g})
		}
	}
	r.do(ctx, tasks)
}

// do writes guilds in groups: a page of all guilds in a group, then the next page.
func (r *round) do(ctx context.Context, tasks []*task) {
	var work errgroup.Group
	work.SetLimit(groupsAtOnce)
	for group := range slices.Chunk(tasks, groupGuilds) {
		work.Go(func() error {
			for open := r.open(ctx, group); len(open) > 0; open = r.open(ctx, open) {
				r.writePages(ctx, open)
			}
			return nil
		})
	}
	_ = work.Wait() // failed has each guild that failed
}

// open returns the guilds with more to write in this round. It calls fit for those that did not fit the archive, several at a time.
func (r *round) open(ctx context.Context, tasks []*task) (open []*task) {
	var fits errgroup.Group
	fits.SetLimit(fitsAtOnce)
	for _, t := range tasks {
		t.more = t.Err == nil && (t.first == nil || t.Batch.Rev < t.first.Batch.AsOf)
		if misfit(t.Err) && t.fits < mostFits {
			fits.Go(func() error {
				t.more = r.fit(ctx, t)
				return nil
			})
		}
	}
	_ = fits.Wait() // each task has its error
	for _, t := range tasks {
		switch {
		case t.more && ctx.Err() == nil:
			open = append(open, t)
		case t.more || t.Err != nil:
			r.fail(ctx, t.Err, t.guild)
		}
	}
	return open
}

// fail records an error, and the guilds that failed with it. If the round ended early, the error is the cause of that.
func (r *round) fail(ctx context.Context, err error, guilds ...id.Guild) {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		r.first = err
	}
	for _, g := range guilds {
		r.failed[g] = err
	}
}

// restarts is how long the restart or the failover of a server may take.
const restarts = 30 * time.Second

// report logs the guilds that failed, one line for each reason. The first time it is a warning, since a
// server may just have restarted. After the time restarts it is an error; later failures are not logged.
func (r *round) report(ctx context.Context) {
	failures.Add(float64(len(r.failed)))
	for g := range r.taken {
		if r.failed[g] == nil {
			delete(r.failing, g)
		}
	}
	if ctx.Err() != nil {
		return
	}
	type line struct {
		level slog.Level
		text  string
	}
	alike := map[line][]id.Guild{}
	levels := map[int]slog.Level{1: slog.LevelWarn, 2 + int(restarts/max(r.interval, time.Second)): slog.LevelError}
	for g, err := range r.failed {
		r.failing[g]++
		if level, said := levels[r.failing[g]]; said {
			l := line{level, err.Error()}
			alike[l] = append(alike[l], g)
		}
	}
	for l, guilds := range alike {
		r.log.Log(ctx, l.level, "a guild could not be written to the archive; its changes wait in Redis and are retried every interval: check the error and the archive",
			"guild", guilds[0], "othersLikeIt", len(guilds)-1, "error", l.text)
	}
}

// putBack puts guilds with waiting changes back into the index, even after the round's end. If that fails, the next round sweeps all guilds.
func (r *round) putBack(ctx context.Context, failed []id.Guild) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTime)
	defer cancel()
	if waiting := slices.Concat(failed, r.again); len(waiting) > 0 && r.live.MarkChanged(ctx, waiting...) != nil {
		r.rounds = 0
	}
}
