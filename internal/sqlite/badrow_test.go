package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/leaderboard"
	"levelboard/internal/snapshot"
	"levelboard/internal/sqlite"
	"levelboard/internal/storetest"
)

// SQLite refuses what nobody here foresaw; the row is told from the batch, and not by repeating it.
func TestARowThatSQLiteRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	a, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000001"))
	l, err := a.AcquireLease(t.Context(), "writer", 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file://"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `CREATE TRIGGER odd BEFORE INSERT ON members WHEN new.username = 'Bobby Tables'
		BEGIN SELECT raise(ABORT, 'not Bobby Tables'); END`)
	if err != nil {
		t.Fatal(err)
	}
	b := snapshot.Batch{Guild: g, Rev: 1, Known: 1, Rows: []snapshot.Row{
		{Member: leaderboard.Member{UserID: "300000000000000001", User: leaderboard.User{Username: "Bobby Tables"}}},
	}}
	for name, err := range map[string]error{
		"write":   a.WriteBatch(t.Context(), l, b),
		"salvage": a.Salvage(t.Context(), snapshot.State{}, b),
	} {
		if !errors.Is(err, snapshot.ErrBadRow) || strings.Contains(err.Error(), "Bobby") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
