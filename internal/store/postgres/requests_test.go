package postgres_test

import (
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/postgres"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Neither a batch nor a load reads requests that were archived with all their effects.
func TestOnlyOpenRecordsAreClosed(t *testing.T) {
	const records, archived = 120, 20_000
	url := postgrestest.URL(t)
	a := open(t, url+"&pool_max_conns=1")
	g := leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000001"))
	l, err := a.AcquireLease(t.Context(), "writer", time.Hour, false)
	must(t, err)
	write := func() { must(t, snapshot.WriteBatch(t.Context(), a, l, snapshot.Batch{Guild: g})) }
	exec(t, url, `ALTER TABLE requests SET (autovacuum_enabled = false)`)
	for range 10 { // enough for the server to cache a plan
		write()
	}
	exec(t, url, `
		INSERT INTO requests (incarnation, name, request, made_ms, outcome, users, epoch, rev)
		SELECT $1, decode(lpad(to_hex(i), 32, '0'), 'hex'), decode(repeat('00', 16), 'hex'), 0, '1 2 0', '300000000000000001',
			CASE WHEN i <= $2 THEN 0 END, CASE WHEN i <= $2 THEN i END
		FROM generate_series(1, $3) i`, int64(g.Incarnation), records, archived)
	readsFew(t, url, archived, a, func(a *postgres.Archive) {
		write()
		state, err := a.State(t.Context(), g)
		must(t, err)
		_, err = a.RaiseEpoch(t.Context(), g, state, hydrate.Reloaded)
		must(t, err)
		for i := 1; i <= records; i++ {
			past, err := a.Past(t.Context(), g, leaderboard.Digest{14: byte(i >> 8), 15: byte(i)})
			if err != nil || past.Made || len(past.Lost) != 1 || past.Lost[0] != id.User("300000000000000001") {
				t.Fatalf("request %d is %+v (%v), want it lost for the user", i, past, err)
			}
		}
	})
}
