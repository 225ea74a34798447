package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// The server's message about rejected data may quote the data, so it must not reach the logged error.
func TestAServersRefusalLogsNoUserData(t *testing.T) {
	url := testenv.Postgres(t)
	a := open(t, url)
	must(t, a.Migrate(t.Context()))
	g := leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000001"))
	l, err := a.AcquireLease(t.Context(), "writer", 1<<40, false)
	must(t, err)
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	_, err = conn.Exec(t.Context(), `ALTER TABLE members ADD CONSTRAINT odd CHECK (username <> 'Bobby Tables')`)
	must(t, err)
	must(t, conn.Close(t.Context()))
	b := snapshot.Batch{Guild: g, Rev: 1, Known: 1, Rows: []snapshot.Row{
		{Member: leaderboard.Member{UserID: "300000000000000001", User: leaderboard.User{Username: "Bobby Tables"}}},
	}}
	for name, err := range map[string]error{"write": snapshot.WriteBatch(t.Context(), a, l, b), "salvage": a.Salvage(t.Context(), snapshot.State{}, b)} {
		if err == nil || !strings.Contains(err.Error(), "23514") || strings.Contains(err.Error(), "Bobby") {
			t.Errorf("%s: %v, want the code 23514 without the name", name, err)
		}
	}
}
