package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/sqlitetest"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// SQLite refuses what nobody here foresaw; the row is found in the batch, and not by repeating it.
func TestARowThatSQLiteRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	a := sqlitetest.OpenAt(t, path)
	g := leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000001"))
	l, err := a.AcquireLease(t.Context(), "writer", 1<<40, false)
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
	good := snapshot.Batch{Guild: leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000002")), Rev: 1, Known: 1}
	good.Rows = []snapshot.Row{{Member: leaderboard.Member{UserID: "300000000000000001"}}}
	b := snapshot.Batch{Guild: g, Rev: 1, Known: 1, Rows: []snapshot.Row{
		{Member: leaderboard.Member{UserID: "300000000000000001", User: leaderboard.User{Username: "Bobby Tables"}}},
	}}
	_, many := a.WriteBatches(t.Context(), l, []snapshot.Batch{good, b})
	if rows, err := a.Members(t.Context(), good.Guild, "", 10); err != nil || len(rows) > 0 {
		t.Errorf("a bad row of another guild left %+v, %v", rows, err)
	}
	for name, err := range map[string]error{
		"write":      snapshot.WriteBatch(t.Context(), a, l, b),
		"write many": many,
		"salvage":    a.Salvage(t.Context(), snapshot.State{}, b),
	} {
		if !errors.Is(err, snapshot.ErrBadRow) || strings.Contains(err.Error(), "Bobby") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
