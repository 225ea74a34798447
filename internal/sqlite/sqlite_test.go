package sqlite_test

import (
	"path/filepath"
	"testing"

	"levelboard/internal/sqlite"
	"levelboard/internal/storetest"
	"levelboard/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func open(t *testing.T, path string) *sqlite.Archive {
	t.Helper()
	a, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestArchive(t *testing.T) {
	storetest.Archive(t, func(t *testing.T) storetest.ArchiveStore {
		return open(t, filepath.Join(t.TempDir(), "a b%20c?#.db"))
	})
}

func TestMigrationsAreAppliedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	fresh, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	before, err := fresh.MigrationStatus(t.Context())
	if err != nil || len(before) == 0 || !before[0].AppliedAt.IsZero() {
		t.Fatalf("before: %+v, %v", before, err)
	}
	fresh.Close()
	open(t, path)
	after, err := open(t, path).MigrationStatus(t.Context())
	if err != nil || len(after) != len(before) || after[0].AppliedAt.IsZero() {
		t.Errorf("after: %+v, %v", after, err)
	}
}
