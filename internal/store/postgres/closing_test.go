package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/store/postgres"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

// closable returns an archive with a guild of one member who gained in a month, and the step that closes the month.
func closable(t *testing.T) (url string, a *postgres.Archive, l lease.Lease, step periods.Closing) {
	t.Helper()
	url = testenv.Postgres(t)
	a = open(t, url)
	must(t, a.Migrate(t.Context()))
	g := storetest.PutGuild(t, a, "100000000000000001")
	l = mustGet(a.AcquireLease(t.Context(), "writer", time.Hour, false))(t)
	p := period.At(period.Monthly, period.DayOf(2026, time.November, 1))
	step = periods.Closing{Guild: g, Period: &p, Begins: time.UnixMilli(0), Ends: time.UnixMilli(1), Board: true}
	must(t, snapshot.WriteBatch(t.Context(), a, l, gained(step, 1)))
	return url, a, l, step
}

func gained(step periods.Closing, rev int64) snapshot.Batch {
	return snapshot.Batch{Guild: leaderboard.Ref(step.Guild), Rev: rev, Known: rev, Rows: []snapshot.Row{{
		Member: leaderboard.Member{UserID: "300000000000000001", XP: 5}, Gains: []period.Gain{{Day: step.Period.First, Gained: 5}},
	}}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustGet returns a function that ends the test on err and returns v.
func mustGet[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func wantBoard(t *testing.T, a *postgres.Archive, step periods.Closing, want int) {
	t.Helper()
	if got, err := a.Standings(t.Context(), leaderboard.Ref(step.Guild), step.Period.ID, 0, 10); err != nil || len(got) != want {
		t.Errorf("the standings are %+v (%v), want %d", got, err, want)
	}
}

// A closing that hangs before it computes delays neither a batch of its guild nor a renewal of the lease, only a takeover.
func TestBatchesContinueWhileAPeriodCloses(t *testing.T) {
	url, a, l, step := closable(t)
	release := blocking(t, url, `INSERT INTO periods (incarnation, id, kind, name, first_day, end_day, begins_ms, ends_ms, board, closed_ms)
		VALUES ($1, $2, 'month', '', 0, 0, 0, 0, true, 0)`, int64(step.Guild.Incarnation), step.Period.ID)
	closed := make(chan error, 1)
	go func() {
		_, err := a.ClosePeriod(t.Context(), l, step)
		closed <- err
	}()
	waitFor(t, url, waitsForALock)
	must(t, snapshot.WriteBatch(t.Context(), a, l, gained(step, 2)))
	if again, err := a.AcquireLease(t.Context(), l.Holder, time.Millisecond, false); err != nil || again != l {
		t.Errorf("renewing the lease gave %+v (%v), want %+v", again, err, l)
	}
	taken := make(chan lease.Lease, 1)
	go func() {
		for {
			if l, err := a.AcquireLease(t.Context(), "other", time.Hour, false); !errors.Is(err, lease.ErrLost) {
				taken <- l
				return
			}
		}
	}()
	select {
	case l := <-taken:
		t.Errorf("during the closing another holder got the lease %+v", l)
	case <-time.After(200 * time.Millisecond):
	}
	release()
	must(t, <-closed)
	<-taken
	wantBoard(t, a, step, 1)
}

// A closing that ends between its computation and its commit leaves nothing: its process gives up, or its connection is killed.
func TestAClosingThatIsCutOffLeavesNothing(t *testing.T) {
	url, a, l, step := closable(t)
	for name, kill := range map[string]func(cancel context.CancelFunc){
		"given up": func(cancel context.CancelFunc) { cancel() },
		"killed": func(context.CancelFunc) {
			waitFor(t, url, `SELECT bool_or(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		},
	} {
		release := blocking(t, url, `SELECT FROM guilds WHERE id = $1 FOR UPDATE`, string(step.Guild.ID))
		ctx, cancel := context.WithCancel(t.Context())
		closed := make(chan error, 1)
		go func() {
			_, err := a.ClosePeriod(ctx, l, step)
			closed <- err
		}()
		waitFor(t, url, waitsForALock)
		kill(cancel)
		if err := <-closed; err == nil {
			t.Errorf("%s: the closing succeeded, want an error", name)
		}
		cancel()
		release()
		wantBoard(t, a, step, 0)
	}
	if closed, err := a.ClosePeriod(t.Context(), l, step); err != nil || !closed {
		t.Errorf("closing again: closed %v (%v), want true", closed, err)
	}
	wantBoard(t, a, step, 1)
}

const waitsForALock = `SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

func TestAnUnreadableGuildDelaysNoOtherDueGuild(t *testing.T) {
	url := postgrestest.URL(t)
	storetest.ArchiveDueUnreadable(t, open(t, url), func(g id.Guild) {
		exec(t, url, `UPDATE guilds SET settings = '{}' WHERE id = '`+string(g)+`'`)
	})
}
