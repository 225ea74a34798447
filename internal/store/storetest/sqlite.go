package storetest

import (
	"path/filepath"
	"testing"

	"levelboard/internal/store/sqlite"
)

// SQLite returns an empty, migrated archive in a file of the test's own, and closes it when the test ends.
func SQLite(t *testing.T) *sqlite.Archive {
	t.Helper()
	return SQLiteAt(t, filepath.Join(t.TempDir(), "archive.db"))
}

// SQLiteAt returns the archive in this file, migrated, and closes it when the test ends.
func SQLiteAt(t *testing.T, path string) *sqlite.Archive {
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
