package postgres_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/postgres"
	"levelboard/internal/storetest"
	"levelboard/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func open(tb testing.TB, url string) *postgres.Archive {
	tb.Helper()
	a, err := postgres.Open(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.Close)
	return a
}

func migrated(tb testing.TB) *postgres.Archive {
	tb.Helper()
	a := open(tb, testenv.Postgres(tb))
	if err := a.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return a
}

func TestArchive(t *testing.T) {
	storetest.Archive(t, func(t *testing.T) storetest.ArchiveStore { return migrated(t) })
}

func TestManyReplicasMigrateAtOnce(t *testing.T) {
	url := testenv.Postgres(t)
	// A table that is not committed yet holds the first migration up until all replicas are there.
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	blocker, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blocker.Exec(t.Context(), `CREATE TABLE guilds ()`); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		a := open(t, url)
		group.Go(func() {
			if err := a.Migrate(t.Context()); err != nil {
				t.Errorf("migrate: %v", err)
			}
		})
	}
	waitFor(t, url, `SELECT count(*) >= 8 AND count(*) FILTER (WHERE wait_event_type = 'Lock') > 0
		FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'levelboard'`)
	if err := blocker.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	status, err := open(t, url).MigrationStatus(t.Context())
	if err != nil || len(status) == 0 {
		t.Fatalf("status: %+v, %v", status, err)
	}
	for _, m := range status {
		if m.AppliedAt.IsZero() {
			t.Errorf("%s is not applied", m.Name)
		}
	}
}
