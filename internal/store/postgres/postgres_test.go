package postgres_test

import (
	"sync"
	"testing"

	"levelboard/internal/store"
	"levelboard/internal/store/postgres"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func open(tb testing.TB, url string) *postgres.Archive {
	tb.Helper()
	a, err := postgres.Open(tb.Context(), url, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.Close)
	return a
}

func migrated(tb testing.TB) *postgres.Archive {
	tb.Helper()
	return open(tb, postgrestest.URL(tb))
}

func TestArchive(t *testing.T) {
	storetest.Archive(t, func(t *testing.T) store.Archive { return migrated(t) })
}

func TestManyReplicasMigrateAtOnce(t *testing.T) {
	url := testenv.Postgres(t)
	// An uncommitted table stops the first migration until all replicas are there.
	release := blocking(t, url, `CREATE TABLE guilds ()`)
	var group sync.WaitGroup
	for range 8 {
		a := open(t, url)
		group.Go(func() {
			if err := a.Migrate(t.Context()); err != nil {
				t.Errorf("migrating: %v", err)
			}
		})
	}
	waitFor(t, url, `SELECT count(*) >= 8 AND count(*) FILTER (WHERE wait_event_type = 'Lock') > 0
		FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'levelboard'`)
	release()
	group.Wait()
	status, err := open(t, url).MigrationStatus(t.Context())
	if err != nil || len(status) == 0 {
		t.Fatalf("the status is %+v (%v), want migrations", status, err)
	}
	for _, m := range status {
		if m.AppliedAt.IsZero() {
			t.Errorf("the migration %s is not applied", m.Name)
		}
	}
}
