package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
)

const guild1, guild2, guild3 id.Guild = "100000000000000001", "100000000000000002", "100000000000000003"

// queued runs a test with a queue that stops with the test.
func queued(t *testing.T, test func(t *testing.T, q *queue)) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(slog.New(slog.DiscardHandler), time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); q.Run(ctx) }()
		test(t, q)
		cancel()
		<-ended
	})
}

// begin queues work for a guild.
func (q *queue) begin(t *testing.T, g id.Guild, work func(ctx context.Context) error) *job {
	t.Helper()
	j := &job{guild: g, Job: Job{Kind: Restore, State: Waiting}}
	if err := q.add(by(t, string(g)), j); err != nil {
		t.Fatal(err)
	}
	q.work(t.Context(), j, stages{Running, Done}, work)
	return j
}

// by returns the context of a user's request.
func by(t *testing.T, user string) context.Context {
	return audit.With(t.Context(), audit.By{Actor: audit.Actor{Kind: audit.User, ID: user}})
}

func (q *queue) wants(t *testing.T, g id.Guild, state State) Job {
	t.Helper()
	synctest.Wait()
	j, there := q.Of(g)
	if !there || j.State != state {
		t.Errorf("the job of %s is %v %q, want %q", g, there, j.State, state)
	}
	return j
}

// until returns work that ends when end is closed, or with its context.
func until(end <-chan struct{}) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestTwoJobsRunAndOthersWait(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		end := make(chan struct{})
		for _, g := range []id.Guild{guild1, guild2} {
			q.begin(t, g, until(end))
			q.wants(t, g, Running)
		}
		q.begin(t, guild3, until(nil))
		q.wants(t, guild3, Waiting)
		close(end)
		q.wants(t, guild1, Done)
		q.wants(t, guild3, Running)
	})
}

func TestAGuildHasOneJobAtATime(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		end := make(chan struct{})
		first := q.begin(t, guild1, until(end))
		if err := q.add(by(t, "another"), &job{guild: guild1}); !fault.Is(err, fault.Conflict) || !errors.Is(err, errBusy) {
			t.Errorf("a second job of the guild: %v, want fault.Conflict", err)
		}
		close(end)
		q.wants(t, guild1, Done)
		if second := q.begin(t, guild1, until(nil)); second.ID == first.ID || q.wants(t, guild1, Running).ID != second.ID {
			t.Errorf("the next job is %q after %q, want a new one that runs", second.ID, first.ID)
		}
	})
}

func TestAJobFailsWithItsError(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		broken := errors.New("broken")
		q.begin(t, guild1, func(context.Context) error { return broken })
		if j := q.wants(t, guild1, Failed); !errors.Is(j.Err, broken) {
			t.Errorf("the job failed with %v, want its error", j.Err)
		}
		q.begin(t, guild2, func(context.Context) error { panic("oh") })
		if j := q.wants(t, guild2, Failed); !strings.Contains(j.Err.Error(), "panic: oh") {
			t.Errorf("the job that panicked failed with %v, want the panic", j.Err)
		}
		q.begin(t, guild3, until(nil))
		time.Sleep(workTime + time.Second)
		if j := q.wants(t, guild3, Failed); !errors.Is(j.Err, context.DeadlineExceeded) {
			t.Errorf("the job over its time failed with %v, want context.DeadlineExceeded", j.Err)
		}
	})
}

func TestEndedJobsAreForgotten(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		for _, g := range []id.Guild{guild1, guild2} {
			q.begin(t, g, func(context.Context) error { return nil })
			q.wants(t, g, Done)
		}
		q.Dismiss(guild1, "another")
		q.Dismiss(guild1, q.wants(t, guild1, Done).ID)
		if j, there := q.Of(guild1); there {
			t.Errorf("the dismissed job is still there: %+v", j)
		}
		time.Sleep(keepTime + time.Second)
		if j, there := q.Of(guild2); there {
			t.Errorf("an hour later the job is still there: %+v", j)
		}
		time.Sleep(lookTime)
		if synctest.Wait(); len(q.jobs) != 0 {
			t.Errorf("%d jobs are kept, want 0", len(q.jobs))
		}
	})
}

// An upload holds a file, so fewer of them are allowed than of other jobs.
func TestUploadsAreBounded(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		r := &Runner{queue: q, o: Options{Dir: t.TempDir()}}
		var arrivals []*Arrival
		for i := range maxUploads {
			arrival, err := r.Receive(by(t, string(rune('a'+i))), guild1[:17]+id.Guild(rune('a'+i)))
			if err != nil || arrival.Add("a", strings.NewReader("id,xp\n")) != nil {
				t.Fatal(err)
			}
			arrivals = append(arrivals, arrival)
		}
		if _, err := r.Receive(by(t, "another"), guild2); !fault.Is(err, fault.Unavailable) {
			t.Errorf("one upload too many: %v, want fault.Unavailable", err)
		}
		file := arrivals[0].job.upload.files[0].content
		arrivals[0].Close()
		if _, err := file.Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the file of an abandoned upload: %v, want it closed", err)
		}
		if arrival, err := r.Receive(by(t, "another"), guild2); err != nil {
			t.Error(err)
		} else {
			arrivals = append(arrivals, arrival)
		}
		for _, arrival := range arrivals {
			arrival.Close()
		}
	})
}

// A user who manages many guilds has a few uploads and one running job in all of them, and leaves room for other users.
func TestAUserHasAShareOfTheJobs(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		r := &Runner{queue: q, o: Options{Dir: t.TempDir()}}
		receive := func(user string, n int, want error) *Arrival {
			t.Helper()
			arrival, err := r.Receive(by(t, user), id.Guild(fmt.Sprint(user, n)))
			if !errors.Is(err, want) {
				t.Errorf("upload %d of %s: %v, want %v", n, user, err, want)
			}
			return arrival
		}
		for n := range uploadsOfOne {
			arrival := receive("greedy", n, nil)
			receive("greedy", 99, errBusy)
			r.change(func() { arrival.job.State, arrival.job.until = Ready, time.Now().Add(keepTime) })
		}
		if _, err := r.Receive(by(t, "greedy"), guild1); !fault.Is(err, fault.Conflict) {
			t.Errorf("one upload too many of a user: %v, want fault.Conflict", err)
		}
		receive("other", 0, nil).Close()

		r.change(func() { q.jobs["greedy0"].State = Running })
		if err := r.Confirm(t.Context(), "greedy1", q.jobs["greedy1"].ID, false); !errors.Is(err, errBusy) {
			t.Errorf("confirming while another job of the user runs: %v, want errBusy", err)
		}
	})
}

// A stop ends all work and accepts no more.
func TestAStopEndsAllWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(slog.New(slog.DiscardHandler), time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); q.Run(ctx) }()
		var why error
		q.begin(t, guild1, func(ctx context.Context) error { why = until(nil)(ctx); return why })
		q.wants(t, guild1, Running)
		cancel()
		<-ended
		if !errors.Is(why, context.Canceled) {
			t.Errorf("the work ended with %v, want context.Canceled", why)
		}
		if err := q.add(t.Context(), &job{guild: guild2}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a job after the stop: %v, want fault.Unavailable", err)
		}
	})
}
