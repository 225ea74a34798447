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
		t.Fatalf("before: %+v, %v", before, err)
	}
	fresh.Close()
	sqlitetest.OpenAt(t, path)
	after, err := sqlitetest.OpenAt(t, path).MigrationStatus(t.Context())
	if err != nil || len(after) != len(before) || after[0].AppliedAt.IsZero() {
		t.Errorf("after: %+v, %v", after, err)
	}
}

func TestManyMigrateAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			a, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			defer a.Close()
			if err := a.Migrate(t.Context()); err != nil {
				t.Errorf("migrate: %v", err)
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

func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "archive.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil { // an umask, or a copy, may have left it open
		t.Fatal(err)
	}
	a := sqlitetest.OpenAt(t, path)
	storetest.PutGuild(t, a, "100000000000000001")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 2 {
		t.Fatalf("%d files, %v; want the archive and its log", len(entries), err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestWhatWasWrittenIsThereAfterAClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	first := sqlitetest.OpenAt(t, path)
	g := storetest.PutGuild(t, first, "100000000000000001")
	first.Close()
	if again, err := sqlitetest.OpenAt(t, path).Guild(t.Context(), g.ID); err != nil || again.Incarnation != g.Incarnation {
		t.Errorf("after the close: %+v, %v", again, err)
	}
}

func TestAnyPathIsThatOfTheFile(t *testing.T) {
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
			t.Errorf("there is a file %q", e.Name())
		case err != nil || e.Name() == name && info.Size() == 0:
			t.Errorf("the archive is empty, %v", err)
		}
	}
}

func TestWhatIsOldOfKeysIsPurged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	storetest.ArchiveKeysPurge(t, sqlitetest.OpenAt(t, path), func(by time.Duration) {
		exec(t, path, `UPDATE key_records SET at_ms = at_ms - ?`, by.Milliseconds())
	})
}

func TestAGuildThatCannotBeReadHoldsUpNoOtherThatIsDue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	storetest.ArchiveDueUnreadable(t, sqlitetest.OpenAt(t, path), func(g id.Guild) {
		exec(t, path, `UPDATE guilds SET settings = '{}' WHERE id = ?`, string(g))
	})
}
