package jobs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
)

const (
	// keepTime is how long a job is kept after its end, and an upload until it is confirmed.
	keepTime = time.Hour
	// maxJobs bounds the kept jobs, maxUploads those with files, and maxWorking the running ones.
	// A running import keeps 60 bytes in memory for each member of the guild and of its files.
	maxJobs, maxUploads, maxWorking = 1000, 16, 2
	// uploadsOfOne is how many jobs with files one user may have, over all guilds. Of running jobs a user may have one.
	uploadsOfOne = 4
	// workTime bounds the work on one job.
	workTime = 15 * time.Minute
	// lookTime is the pause between two checks for expired jobs.
	lookTime = time.Minute
)

// errBusy says that the guild, or the user, has a job that has not ended.
var errBusy = errors.New("another job is at work")

// queue holds the newest job of each guild, and runs a few of them at a time.
type queue struct {
	log  *slog.Logger
	now  func() time.Time
	ctx  context.Context // the context of all running jobs
	stop context.CancelFunc
	room *semaphore.Weighted

	mu      sync.Mutex
	closed  bool
	jobs    map[id.Guild]*job
	working sync.WaitGroup
}

func newQueue(log *slog.Logger, now func() time.Time) *queue {
	ctx, stop := context.WithCancel(context.Background())
	return &queue{log: log, now: now, ctx: ctx, stop: stop, room: semaphore.NewWeighted(maxWorking), jobs: map[id.Guild]*job{}}
}

// Run drops expired jobs until ctx ends. Then it cancels all jobs, waits for their end and removes all files.
func (q *queue) Run(ctx context.Context) {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			q.mu.Lock()
			q.forget(func(j *job) bool { return !j.State.Active() && q.now().After(j.until) })
			q.mu.Unlock()
		case <-ctx.Done():
			q.mu.Lock()
			q.closed = true
			q.mu.Unlock()
			q.stop()
			q.working.Wait()
			q.mu.Lock()
			q.forget(func(j *job) bool { return j.State != Receiving }) // an Arrival still holds a Receiving one
			q.mu.Unlock()
			return
		}
	}
}

// forget drops the jobs for which old is true. mu is held.
func (q *queue) forget(old func(*job) bool) {
	for g, j := range q.jobs {
		if old(j) {
			j.upload.remove()
			delete(q.jobs, g)
		}
	}
}

// Of returns the guild's newest job. ok is false if none is kept.
func (q *queue) Of(g id.Guild) (Job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := q.jobs[g]
	if j == nil || !j.State.Active() && q.now().After(j.until) {
		return Job{}, false
	}
	now := j.Job
	now.HasFiles = j.upload != nil && !j.State.Active()
	if j.Import != nil {
		copied := *j.Import
		now.Import = &copied
	}
	return now, true
}

// Dismiss drops a job that waits to be confirmed or has ended. It does nothing if the guild has another job now.
func (q *queue) Dismiss(g id.Guild, job string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j := q.jobs[g]; j != nil && j.ID == job && !j.State.Active() {
		j.upload.remove()
		delete(q.jobs, g)
	}
}

// add makes j the guild's job, in place of one that has ended, and a job of the user in ctx.
func (q *queue) add(ctx context.Context, j *job) error {
	if by := audit.Of(ctx); by != nil {
		j.user, j.By = by.Actor.ID, by.Actor.Name
	}
	j.At = q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget(func(old *job) bool { return !old.State.Active() && q.now().After(old.until) })
	had := q.jobs[j.guild]
	switch {
	case had != nil && had.State.Active():
		return fault.Wrap(errBusy, fault.Conflict, "Another task of this community has not finished. Wait for it, then try again.")
	case had != nil && had.State == Ready:
		return fault.New(fault.Conflict, "An import of %s waits to be confirmed. Import or discard it first.", cmp.Or(had.By, "somebody"))
	case q.isAtWork(j.user):
		return errOwnBusy
	case j.upload != nil && q.uploads(func(other *job) bool { return other.user == j.user && other != had }) >= uploadsOfOne:
		return fault.New(fault.Conflict, "You have uploads in %d other communities. Import one of them, or dismiss it.", uploadsOfOne)
	case q.closed, had == nil && len(q.jobs) >= maxJobs, j.upload != nil && q.uploads(func(*job) bool { return true }) >= maxUploads:
		return &fault.Error{Code: fault.Unavailable, Message: "The service is busy with other communities. Try again in a minute.", RetryAfter: time.Minute}
	case had != nil:
		had.upload.remove()
	}
	j.ID, q.jobs[j.guild] = rand.Text(), j
	return nil
}

var errOwnBusy = fault.Wrap(errBusy, fault.Conflict, "A task of yours in another community has not finished. Wait for it, then try again.")

// isAtWork reports whether a job of the user has not ended. mu is held.
func (q *queue) isAtWork(user string) bool {
	for _, j := range q.jobs {
		if j.user == user && j.State.Active() {
			return true
		}
	}
	return false
}

// uploads counts the jobs with files. mu is held.
func (q *queue) uploads(counts func(*job) bool) (n int) {
	for _, j := range q.jobs {
		if j.upload != nil && counts(j) {
			n++
		}
	}
	return n
}

// stages are the states of a job while it runs and after it.
type stages struct{ during, after State }

// work runs j in the background, once there is room, with the values of ctx but without its cancellation.
func (q *queue) work(ctx context.Context, j *job, through stages, work func(ctx context.Context) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.State = Waiting
	if q.closed { // the process ends, and with it the job
		return
	}
	q.working.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), workTime)
		defer cancel()
		defer context.AfterFunc(q.ctx, cancel)()
		err := q.room.Acquire(ctx, 1)
		if err == nil {
			q.change(func() { j.State = through.during })
			err = q.safely(ctx, work)
			q.room.Release(1)
		}
		q.end(j, through.after, err)
	})
}

// safely turns a panic into an error: anybody may have made the files.
func (q *queue) safely(ctx context.Context, work func(ctx context.Context) error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
	}()
	return work(ctx)
}

// end records the result of a job. It keeps the files of an import until it is confirmed, and after a failure that another choice may repair.
func (q *queue) end(j *job, state State, err error) {
	if err != nil && q.ctx.Err() == nil {
		q.log.Warn("a manager's task failed", "task", j.Kind, "guild", j.guild, "error", err)
	}
	q.change(func() {
		j.State, j.until = state, q.now().Add(keepTime)
		if err != nil {
			j.State, j.Err = Failed, err
		}
		if state != Ready {
			j.upload.remove()
			j.upload = nil
		}
	})
}

func (q *queue) change(how func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	how()
}
