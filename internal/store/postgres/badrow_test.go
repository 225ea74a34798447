package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// The server refuses what nobody here foresaw; the row is found in the batch, and not by repeating it.
func TestARowThatTheServerRefuses(t *testing.T) {
	url := testenv.Postgres(t)
	a := open(t, url)
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000001"))
	l, err := a.AcquireLease(t.Context(), "writer", 1<<40, false)
	if err != nil {
		t.Fatal(err)
	}
	good := snapshot.Batch{Guild: leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000002")), Rev: 1, Known: 1}
	good.Rows = []snapshot.Row{{Member: leaderboard.Member{UserID: "300000000000000001"}}}
	b := snapshot.Batch{Guild: g, Rev: 1, Known: 1, Rows: []snapshot.Row{
		{Member: leaderboard.Member{UserID: "300000000000000001", User: leaderboard.User{Username: "Bobby Tables"}}},
	}}
	for _, alter := range []string{
		`ALTER TABLE members ADD CONSTRAINT odd CHECK (username <> 'Bobby Tables')`,
		`ALTER TABLE members DROP CONSTRAINT odd, ALTER username TYPE varchar(5)`,
	} {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Exec(t.Context(), alter)
		if closeErr := conn.Close(t.Context()); err != nil || closeErr != nil {
			t.Fatal(err, closeErr)
		}
		_, many := a.WriteBatches(t.Context(), l, []snapshot.Batch{good, b})
		if state, err := a.State(t.Context(), good.Guild); err != nil || state.Archived > 0 {
			t.Errorf("beside a bad row another guild was written: %+v, %v", state, err)
		}
		for name, err := range map[string]error{
			"write":      snapshot.WriteBatch(t.Context(), a, l, b),
			"write many": many,
			"salvage":    a.Salvage(t.Context(), snapshot.State{}, b),
		} {
			if !errors.Is(err, snapshot.ErrBadRow) {
				t.Errorf("%s after %s: %v", name, alter, err)
			}
			if err != nil && strings.Contains(err.Error(), "Bobby") {
				t.Errorf("the error tells the user data: %v", err)
			}
		}
	}
}
