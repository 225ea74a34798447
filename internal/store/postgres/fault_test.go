package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/guild"
	"levelboard/internal/store/postgres"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

func TestTheArchiveOutlivesItsServer(t *testing.T) {
	server := testenv.PostgresServer(t)
	server.Stop()
	a := open(t, server.URL())
	if err := a.Migrate(t.Context()); err == nil {
		t.Fatal("migrating without a server succeeded")
	}
	if _, err := a.LatestChange(t.Context()); err == nil || !strings.Contains(err.Error(), "read_latest_change") {
		t.Errorf("without a server: %v, want an error that names the operation", err)
	}
	server.Start()
	must(t, a.Migrate(t.Context()))
	g := storetest.PutGuild(t, a, "100000000000000001")
	server.Kill()
	if _, err := a.Guild(t.Context(), g.ID); err == nil || errors.Is(err, guild.ErrNotFound) {
		t.Errorf("reading from a killed server: %v, want an error other than guild.ErrNotFound", err)
	}
	if _, err := a.State(t.Context(), leaderboard.Ref(g)); err == nil || errors.Is(err, snapshot.ErrStale) {
		t.Errorf("reading a state from a killed server: %v, want an error other than snapshot.ErrStale", err)
	}
	server.Start()
	if again, err := a.Guild(t.Context(), g.ID); err != nil || again.Incarnation != g.Incarnation {
		t.Errorf("once the server is back the guild is %+v (%v)", again, err)
	}
}

// A silent server does not block a caller whose context never ends, such as the writer.
func TestNoOperationOfTheWriterWaitsForever(t *testing.T) {
	server := testenv.PostgresServer(t)
	a := open(t, server.URL())
	must(t, a.Migrate(t.Context()))
	g := leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000001"))
	l := mustGet(a.AcquireLease(t.Context(), "writer", time.Hour, false))(t)
	for name, call := range map[string]func(ctx context.Context) error{
		"AcquireLease": func(ctx context.Context) error { _, err := a.AcquireLease(ctx, "writer", time.Hour, false); return err },
		"ReleaseLease": func(ctx context.Context) error { return a.ReleaseLease(ctx, l) },
		"WriteBatch": func(ctx context.Context) error {
			return snapshot.WriteBatch(ctx, a, l, snapshot.Batch{Guild: g, Rev: 1, Known: 1})
		},
		"Salvage": func(ctx context.Context) error { return a.Salvage(ctx, snapshot.State{}, snapshot.Batch{Guild: g}) },
		"Members": func(ctx context.Context) error { _, err := a.Members(ctx, g, "", 10); return err },
		"Deleted": func(ctx context.Context) error { _, err := a.Deleted(ctx, 10); return err },
		"Purge":   func(ctx context.Context) error { _, err := a.Purge(ctx, 10, snapshot.Keep{}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := a.Ping(t.Context()); err != nil { // opens a connection, as between two rounds
				t.Fatal(err)
			}
			server.Pause()
			defer server.Resume()
			postgres.Hasty(t, 100*time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := call(ctx); err == nil || ctx.Err() != nil {
				t.Errorf("with a silent server the operation returned %v, want an error before its context ends", err)
			}
		})
	}
}

// A machine may hang between two statements of a migration.
func TestAMigrationMayIdle(t *testing.T) {
	if err := open(t, testenv.Postgres(t)+"&idle_in_transaction_session_timeout=1").Migrate(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpenErrorsDoNotContainThePassword(t *testing.T) {
	for _, url := range []string{
		"postgres://user:sEcReT@127.0.0.1:notaport/db",
		"postgres://user:sEcReT/x@127.0.0.1/db", // parsed as host user, port sEcReT
		"postgres://user:x%sEcReT@127.0.0.1/db",
		"postgres://127.0.0.1/db?password=sEcReT&sslmode=sEcReT",
		"host=127.0.0.1 password='sEcReT' sslmode=wrong",
		"password=sEcReT port=sEcReT",
	} {
		a, err := postgres.Open(t.Context(), url, nil, nil)
		if err == nil {
			a.Close()
			t.Errorf("the invalid URL %s is accepted", url)
		} else if strings.Contains(err.Error(), "sEcReT") {
			t.Errorf("the error for %s contains the password: %v", url, err)
		}
	}
}

func TestOperationErrorsDoNotContainThePassword(t *testing.T) {
	a := open(t, "postgres://user:sEcReT@127.0.0.1:1/db?sslmode=disable")
	if err := a.Ping(t.Context()); err == nil || strings.Contains(err.Error(), "sEcReT") {
		t.Errorf("the error of Ping is %v, want one without the password", err)
	}
	if err := a.Migrate(t.Context()); err == nil || strings.Contains(err.Error(), "sEcReT") {
		t.Errorf("the error of Migrate is %v, want one without the password", err)
	}
}

func exec(t *testing.T, url, statement string, args ...any) {
	t.Helper()
	conn := mustGet(pgx.Connect(t.Context(), url))(t)
	defer conn.Close(context.WithoutCancel(t.Context()))
	mustGet(conn.Exec(t.Context(), statement, args...))(t)
}

func TestANewerDatabaseServesAnOlderProgram(t *testing.T) {
	url := testenv.Postgres(t)
	a := open(t, url)
	before, err := a.MigrationStatus(t.Context())
	if err != nil || len(before) == 0 || !before[0].AppliedAt.IsZero() {
		t.Fatalf("an empty database has the migrations %+v (%v), want some that are not applied", before, err)
	}
	for range 2 {
		must(t, a.Migrate(t.Context()))
		exec(t, url, `INSERT INTO goose_db_version (version_id, is_applied)
			SELECT 99999, true WHERE NOT EXISTS (SELECT FROM goose_db_version WHERE version_id = 99999)`)
	}
	status, err := a.MigrationStatus(t.Context())
	if err != nil || len(status) != len(before) {
		t.Fatalf("after migrating the status is %+v (%v), want %d migrations", status, err, len(before))
	}
	for _, m := range status {
		if m.AppliedAt.IsZero() || time.Since(m.AppliedAt) > time.Hour {
			t.Errorf("the migration %s was applied at %v, want within the last hour", m.Name, m.AppliedAt)
		}
	}
}

func TestOldChangesArePurged(t *testing.T) {
	url := testenv.Postgres(t)
	a := open(t, url)
	must(t, a.Migrate(t.Context()))
	storetest.ArchiveLogPurge(t, a, func(logged time.Time, upTo int64) {
		exec(t, url, `UPDATE change_log SET logged_ms = $1 WHERE version <= $2`, logged.UnixMilli(), upTo)
	})
}

func TestOldDataOfKeysIsPurged(t *testing.T) {
	url := testenv.Postgres(t)
	a := open(t, url)
	must(t, a.Migrate(t.Context()))
	storetest.ArchiveKeysPurge(t, a, func(by time.Duration) {
		exec(t, url, `UPDATE key_records SET at_ms = at_ms - $1`, by.Milliseconds())
	})
}

// A takeover waits for a running batch, so that nothing of it is written afterwards. A renewal does not wait.
func TestATakeoverWaitsForARunningBatch(t *testing.T) {
	url := testenv.Postgres(t)
	a := open(t, url)
	must(t, a.Migrate(t.Context()))
	g := storetest.PutGuild(t, a, "100000000000000001")
	l := mustGet(a.AcquireLease(t.Context(), "first", time.Hour, false))(t)
	row := snapshot.Row{Member: leaderboard.Member{UserID: "300000000000000001", XP: 1}}
	batch := snapshot.Batch{Guild: leaderboard.Ref(g), Rev: 1, Known: 1, Rows: []snapshot.Row{row}}
	must(t, snapshot.WriteBatch(t.Context(), a, l, batch))

	// A lock on the member's row stops the next batch in the middle.
	release := blocking(t, url, `SELECT FROM members FOR UPDATE`)
	wrote := make(chan error, 1)
	batch.Rev, batch.Rows[0].XP = 2, 2
	go func() { wrote <- snapshot.WriteBatch(t.Context(), a, l, batch) }()
	waitFor(t, url, `SELECT count(*) = 1 FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO members%'`)

	if renewed, err := a.AcquireLease(t.Context(), "first", 0, false); err != nil || renewed != l {
		t.Fatalf("renewing the lease during a batch: %+v (%v), want %+v", renewed, err, l)
	}
	took := make(chan error, 1)
	go func() {
		_, err := a.AcquireLease(t.Context(), "second", time.Hour, false)
		took <- err
	}()
	waitFor(t, url, `SELECT count(*) = 1 FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO leases%'`)

	release()
	must(t, errors.Join(<-wrote, <-took))
	batch.Rev = 3
	if err := snapshot.WriteBatch(t.Context(), a, l, batch); !errors.Is(err, lease.ErrLost) {
		t.Errorf("the old holder's batch after the takeover: %v, want lease.ErrLost", err)
	}
	if rows, err := a.Members(t.Context(), leaderboard.Ref(g), "", 10); err != nil || len(rows) != 1 || rows[0].XP != 2 {
		t.Errorf("the members are %+v (%v), want one with 2 XP", rows, err)
	}
}

// blocking holds the locks of a statement, in its own transaction, until release is called or the test ends.
func blocking(t *testing.T, url, statement string, args ...any) (release func()) {
	t.Helper()
	conn := mustGet(pgx.Connect(t.Context(), url))(t)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	blocker := mustGet(conn.Begin(t.Context()))(t)
	mustGet(blocker.Exec(t.Context(), statement, args...))(t)
	return func() {
		t.Helper()
		must(t, blocker.Rollback(t.Context()))
	}
}

// waitFor waits until the query returns true.
func waitFor(t *testing.T, url, query string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	testenv.Wait(t, query, func() (yes bool) {
		must(t, conn.QueryRow(t.Context(), query).Scan(&yes))
		return yes
	})
}
