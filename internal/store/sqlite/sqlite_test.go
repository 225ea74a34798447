package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/store/sqlite"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/sqlitetest"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestArchive(t *testing.T) {
	storetest.Archive(t, func(t *testing.T) store.Archive {
		return sqlitetest.Open(t)
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
		t.Fatalf("before migrating the status is %+v (%v), want migrations that are not applied", before, err)
	}
	fresh.Close()
	sqlitetest.OpenAt(t, path)
	after, err := sqlitetest.OpenAt(t, path).MigrationStatus(t.Context())
	if err != nil || len(after) != len(before) || after[0].AppliedAt.IsZero() {
		t.Errorf("after migrating the status is %+v (%v), want all applied", after, err)
	}
}

func TestManyMigrateAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			a, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Errorf("opening the archive: %v", err)
				return
			}
			defer a.Close()
			if err := a.Migrate(t.Context()); err != nil {
				t.Errorf("migrating: %v", err)
			}
		})
	}
	group.Wait()
}

func exec(t *testing.T, path, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

func TestANewerArchiveServesAnOlderProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	sqlitetest.OpenAt(t, path)
	exec(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`)
	sqlitetest.OpenAt(t, path)
}

func TestOldChangesArePurged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	storetest.ArchiveLogPurge(t, sqlitetest.OpenAt(t, path), func(logged time.Time, upTo int64) {
		exec(t, path, `UPDATE change_log SET logged_ms = ? WHERE version <= ?`, logged.UnixMilli(), upTo)
	})
}

func TestFilesAreReadableByTheOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "archive.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil { // a copy may have left it readable for others
		t.Fatal(err)
	}
	a := sqlitetest.OpenAt(t, path)
	storetest.PutGuild(t, a, "100000000000000001")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 2 {
		t.Fatalf("the folder has %d files (%v), want the archive and its log", len(entries), err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v (%v), want 0600", e.Name(), info.Mode(), err)
		}
	}
}

func TestWritesSurviveAClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	first := sqlitetest.OpenAt(t, path)
	g := storetest.PutGuild(t, first, "100000000000000001")
	first.Close()
	if again, err := sqlitetest.OpenAt(t, path).Guild(t.Context(), g.ID); err != nil || again.Incarnation != g.Incarnation {
		t.Errorf("after the close the guild is %+v (%v), want incarnation %d", again, err, g.Incarnation)
	}
}

func TestThePathMayHaveAnyCharacters(t *testing.T) {
	dir := t.TempDir()
	const name = "a b%20c?mode=memory#.db"
	a := sqlitetest.OpenAt(t, filepath.Join(dir, name))
	storetest.PutGuild(t, a, "100000000000000001")
	a.Close()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch info, err := e.Info(); {
		case e.Name() != name && e.Name() != name+".migrate":
			t.Errorf("opening made the file %q, want only %q", e.Name(), name)
		case err != nil || e.Name() == name && info.Size() == 0:
			t.Errorf("the archive's file is empty (%v)", err)
		}
	}
}

func TestOldDataOfKeysIsPurged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	storetest.ArchiveKeysPurge(t, sqlitetest.OpenAt(t, path), func(by time.Duration) {
		exec(t, path, `UPDATE key_records SET at_ms = at_ms - ?`, by.Milliseconds())
	})
}

func TestAnUnreadableGuildDelaysNoOtherDueGuild(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	storetest.ArchiveDueUnreadable(t, sqlitetest.OpenAt(t, path), func(g id.Guild) {
		exec(t, path, `UPDATE guilds SET settings = '{}' WHERE id = ?`, string(g))
	})
}
