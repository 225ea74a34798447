// Package sqlitetest makes archives in SQLite for tests.
package sqlitetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"levelboard/internal/store/sqlite"
)

// migrated is the file of an empty, migrated archive. Tests copy it, because a migration takes longer than most of them.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "levelboard-archive-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "archive.db")
	a, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	err = a.Migrate(context.Background())
	a.Close()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Open returns an empty, migrated archive in a new file, and closes it when the test ends.
func Open(t *testing.T) *sqlite.Archive {
	t.Helper()
	empty, err := migrated()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "archive.db")
	if err := os.WriteFile(path, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	return OpenAt(t, path)
}

// OpenAt returns the archive in this file, migrated, and closes it when the test ends.
func OpenAt(t *testing.T, path string) *sqlite.Archive {
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
