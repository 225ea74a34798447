// Package jobs does what managers start on the pages and what takes longer than a request: checkpoints, restores, resets and imports. A guild
// has one job at a time, and the newest one is kept for an hour. Jobs are in this process alone: one that runs while it stops is cut off, and
// starting it again completes it. This package does not check who may.
package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/guildsettings"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// keepTime is how long a job is kept after it ended, and an upload until it is confirmed.
	keepTime = time.Hour
	// maxJobs bounds the jobs that are kept, maxUploads those of them that have files, and maxWorking those that are worked on: an import keeps
	// 32 bytes in memory for each member of the guild and of its files.
	maxJobs, maxUploads, maxWorking = 1000, 16, 2
	// workTime bounds the work on one job.
	workTime = 15 * time.Minute
	// lookTime is between two looks for what is kept too long.
	lookTime = time.Minute
)

// errBusy says that the guild has a job that has not ended.
var errBusy = errors.New("another job of the guild is at work")

// Checkpoints are the use cases that jobs run (package checkpoints).
type Checkpoints interface {
	Create(ctx context.Context, g id.Guild, name string, automatic bool) (checkpoints.Checkpoint, error)
	Restore(ctx context.Context, g id.Guild, checkpoint string) (checkpoints.Replaced, error)
	Reset(ctx context.Context, g id.Guild) (checkpoints.Replaced, error)
	Export(ctx context.Context, g id.Guild) (*guild.Guild, iter.Seq2[importer.Exported, error], error)
	BeginImport(ctx context.Context, g id.Guild, b checkpoints.Begin) (checkpoints.Import, error)
	FinishImport(ctx context.Context, g id.Guild, importID string, members int64) error
}

// Settings reads and saves a guild's settings (package guildsettings).
type Settings interface {
	Read(ctx context.Context, g id.Guild) (*guild.Guild, error)
	Save(ctx context.Context, read *guild.Guild, p guildsettings.Proposal) (*guild.Guild, error)
}

// Board writes members (package leaderboard).
type Board interface {
	Put(ctx context.Context, g *guild.Guild, p leaderboard.Puts) (done []leaderboard.Done, replayed bool, err error)
}

// Options are what a Runner works with.
type Options struct {
	Checkpoints Checkpoints
	Settings    Settings
	Board       Board
	Dir         string // for temporary files; the system's when empty
	Log         *slog.Logger
	Now         func() time.Time
}

// Runner has the jobs of all guilds. Its errors are faults. It is safe for concurrent use.
type Runner struct {
	o    Options
	ctx  context.Context // of all work
	stop context.CancelFunc
	room *semaphore.Weighted

	mu      sync.Mutex
	closed  bool
	jobs    map[id.Guild]*job
	working sync.WaitGroup
}

// New returns a Runner. It works until the end of Run.
func New(o Options) *Runner {
	ctx, stop := context.WithCancel(context.Background())
	return &Runner{o: o, ctx: ctx, stop: stop, room: semaphore.NewWeighted(maxWorking), jobs: map[id.Guild]*job{}}
}

// Run forgets what is kept too long, until ctx ends. It stops all work then, waits for its end and removes all files.
func (r *Runner) Run(ctx context.Context) {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.mu.Lock()
			r.forget(func(j *job) bool { return !j.State.Active() && r.o.Now().After(j.until) })
			r.mu.Unlock()
		case <-ctx.Done():
			r.mu.Lock()
			r.closed = true
			r.mu.Unlock()
			r.stop()
			r.working.Wait()
			r.mu.Lock()
			r.forget(func(j *job) bool { return j.State != Receiving }) // or an Arrival has it
			r.mu.Unlock()
			return
		}
	}
}

// forget drops jobs. The caller holds mu.
func (r *Runner) forget(old func(*job) bool) {
	for g, j := range r.jobs {
		if old(j) {
			j.upload.remove()
			delete(r.jobs, g)
		}
	}
}

// Of returns the guild's newest job; false when none is kept.
func (r *Runner) Of(g id.Guild) (Job, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.jobs[g]
	if j == nil || !j.State.Active() && r.o.Now().After(j.until) {
		return Job{}, false
	}
	now := j.Job
	if j.Import != nil {
		copied := *j.Import
		now.Import = &copied
	}
	return now, true
}

// Dismiss forgets a job that waits to be confirmed or has ended. Another one than named stays.
func (r *Runner) Dismiss(g id.Guild, job string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j := r.jobs[g]; j != nil && j.ID == job && !j.State.Active() {
		j.upload.remove()
		delete(r.jobs, g)
	}
}

// add makes j the guild's job, in place of one that has ended or waits to be confirmed.
func (r *Runner) add(j *job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(func(old *job) bool { return !old.State.Active() && r.o.Now().After(old.until) })
	had := r.jobs[j.guild]
	switch {
	case had != nil && had.State.Active():
		return fault.Wrap(errBusy, fault.Conflict, "Another task of this community has not finished. Wait for it, then try again.")
	case r.closed, had == nil && len(r.jobs) >= maxJobs, j.upload != nil && r.uploads() >= maxUploads:
		return &fault.Error{Code: fault.Unavailable, Message: "The service is busy with other communities. Try again in a minute.", RetryAfter: time.Minute}
	case had != nil:
		had.upload.remove()
	}
	j.ID, r.jobs[j.guild] = rand.Text(), j
	return nil
}

// uploads counts the jobs that have files.
func (r *Runner) uploads() (n int) {
	for _, j := range r.jobs {
		if j.upload != nil {
			n++
		}
	}
	return n
}

// stages are the states of a job while it is worked on and after it.
type stages struct{ during, after State }

// work works on j in the background, once there is room, with what ctx holds and without its end.
func (r *Runner) work(ctx context.Context, j *job, through stages, work func(ctx context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j.State = Waiting
	if r.closed { // its process ends, and with it the job
		return
	}
	r.working.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), workTime)
		defer cancel()
		defer context.AfterFunc(r.ctx, cancel)()
		err := r.room.Acquire(ctx, 1)
		if err == nil {
			r.change(func() { j.State = through.during })
			err = r.safely(ctx, work)
			r.room.Release(1)
		}
		r.end(j, through.after, err)
	})
}

// safely turns a panic into an error: files are anybody's.
func (r *Runner) safely(ctx context.Context, work func(ctx context.Context) error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
	}()
	return work(ctx)
}

// end notes how a job ended. Its files are kept only for the next step.
func (r *Runner) end(j *job, state State, err error) {
	if err != nil && r.ctx.Err() == nil {
		r.o.Log.Warn("a manager's task failed", "task", j.Kind, "guild", j.guild, "error", err)
	}
	r.change(func() {
		j.State, j.until = state, r.o.Now().Add(keepTime)
		if err != nil {
			j.State, j.Err = Failed, err
		}
		if j.State != Ready {
			j.upload.remove()
			j.upload = nil
		}
	})
}

func (r *Runner) change(how func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	how()
}
