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

// queued runs a test with a queue, whose Run ends with it.
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

// start queues work for a guild.
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

// until is work that ends when end is closed, or with its context.
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

func TestTwoTasksAreWorkedOnAndOthersWait(t *testing.T) {
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

func TestAGuildHasOneTaskAtATime(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		end := make(chan struct{})
		first := q.begin(t, guild1, until(end))
		if err := q.add(by(t, "another"), &job{guild: guild1}); !fault.Is(err, fault.Conflict) || !errors.Is(err, errBusy) {
			t.Errorf("another one meanwhile: %v", err)
		}
		close(end)
		q.wants(t, guild1, Done)
		if second := q.begin(t, guild1, until(nil)); second.ID == first.ID || q.wants(t, guild1, Running).ID != second.ID {
			t.Errorf("the second is %q after %q", second.ID, first.ID)
		}
	})
}

func TestHowTasksFail(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		broken := errors.New("broken")
		q.begin(t, guild1, func(context.Context) error { return broken })
		if j := q.wants(t, guild1, Failed); !errors.Is(j.Err, broken) {
			t.Errorf("the error is %v", j.Err)
		}
		q.begin(t, guild2, func(context.Context) error { panic("oh") })
		if j := q.wants(t, guild2, Failed); !strings.Contains(j.Err.Error(), "panic: oh") {
			t.Errorf("the error is %v", j.Err)
		}
		q.begin(t, guild3, until(nil))
		time.Sleep(workTime + time.Second)
		if j := q.wants(t, guild3, Failed); !errors.Is(j.Err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", j.Err)
		}
	})
}

func TestTasksAreForgotten(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		for _, g := range []id.Guild{guild1, guild2} {
			q.begin(t, g, func(context.Context) error { return nil })
			q.wants(t, g, Done)
		}
		q.Dismiss(guild1, "another")
		q.Dismiss(guild1, q.wants(t, guild1, Done).ID)
		if j, there := q.Of(guild1); there {
			t.Errorf("dismissed, it is %+v", j)
		}
		time.Sleep(keepTime + time.Second)
		if j, there := q.Of(guild2); there {
			t.Errorf("an hour later it is %+v", j)
		}
		time.Sleep(lookTime)
		if synctest.Wait(); len(q.jobs) != 0 {
			t.Errorf("%d jobs are kept", len(q.jobs))
		}
	})
}

// Each upload holds files, so there are fewer of them than of other tasks.
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
			t.Errorf("one more: %v", err)
		}
		file := arrivals[0].job.upload.files[0].content
		arrivals[0].Close()
		if _, err := file.Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the file of an upload that was given up: %v", err)
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

// Who manages many guilds has a few uploads and one task at work in all of them, and the others have theirs.
func TestAUserHasAShareOfTheTasks(t *testing.T) {
	queued(t, func(t *testing.T, q *queue) {
		r := &Runner{queue: q, o: Options{Dir: t.TempDir()}}
		receive := func(user string, n int, want error) *Arrival {
			t.Helper()
			arrival, err := r.Receive(by(t, user), id.Guild(fmt.Sprint(user, n)))
			if !errors.Is(err, want) {
				t.Errorf("%d. upload of %s: %v, want %v", n, user, err, want)
			}
			return arrival
		}
		for n := range uploadsOfOne {
			arrival := receive("greedy", n, nil)
			receive("greedy", 99, errBusy)
			r.change(func() { arrival.job.State, arrival.job.until = Ready, time.Now().Add(keepTime) })
		}
		if _, err := r.Receive(by(t, "greedy"), guild1); !fault.Is(err, fault.Conflict) {
			t.Errorf("one upload more: %v", err)
		}
		receive("other", 0, nil).Close()

		r.change(func() { q.jobs["greedy0"].State = Running })
		if err := r.Confirm(t.Context(), "greedy1", q.jobs["greedy1"].ID, false); !errors.Is(err, errBusy) {
			t.Errorf("confirmed beside another one: %v", err)
		}
	})
}

// A stop ends all work, and takes no more.
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
			t.Errorf("the work ended with %v", why)
		}
		if err := q.add(t.Context(), &job{guild: guild2}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a task after the stop: %v", err)
		}
	})
}
