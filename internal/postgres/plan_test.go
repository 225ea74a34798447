package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/id"
	"levelboard/internal/testenv"
)

// A service that has been running since its tables were nearly empty reads keys and guilds by their indexes when they are not: a plan
// from then would go through all rows for each of them.
func TestReadsArePlannedByTheTablesAsTheyAre(t *testing.T) {
	url := testenv.Postgres(t)
	if err := open(t, url).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	exec := func(query string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	// Guild i is 200000000000000000 + i, and key i is granted the guilds up to 100 before it.
	grow := func(from, to int) {
		t.Helper()
		exec(fmt.Sprintf(`INSERT INTO guilds (id, incarnation, settings, version, created_ms)
			SELECT (200000000000000000 + i)::text, 1000000 + i, jsonb_build_object('id', (200000000000000000 + i)::text, 'name', 'g',
				'memberCount', 1, 'ownerId', '100000000000000001'), 1, 0 FROM generate_series(%d, %d) i`, from, to))
		exec(fmt.Sprintf(`INSERT INTO api_keys (id, hash, name, owner_id, permission, created_ms)
			SELECT 'key' || i, decode(repeat('00', 32), 'hex'), 'k', '1', 'read', 0 FROM generate_series(%d, %d) i`, from, to))
		exec(fmt.Sprintf(`INSERT INTO key_grants (key_id, guild_id) SELECT 'key' || i, (200000000000000000 + g)::text
			FROM generate_series(%d, %d) i, generate_series(greatest(i - 100, 1), i) g`, from, to))
	}
	grow(1, 1)
	exec(`VACUUM ANALYZE`)
	// No table is analyzed by the server itself meanwhile, which would have all be planned anew.
	for _, table := range []string{"guilds", "api_keys", "key_grants"} {
		exec(`ALTER TABLE ` + table + ` SET (autovacuum_enabled = false)`)
	}
	a := open(t, url+"&pool_max_conns=1")
	read := func(i int) {
		t.Helper()
		k, err := a.Key(t.Context(), fmt.Sprint("key", i))
		if err != nil || len(k.GuildIDs) == 0 {
			t.Fatalf("key %d: %+v, %v", i, k, err)
		}
		if _, err := a.Guild(t.Context(), id.Guild(fmt.Sprint(200000000000000000+i))); err != nil {
			t.Fatalf("guild %d: %v", i, err)
		}
	}
	for range 10 { // so that a plan is kept, if one ever is
		read(1)
	}
	const many = 2000
	grow(2, many)
	var before, after int64
	rowsRead := `SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables WHERE relname IN ('guilds', 'api_keys', 'key_grants')`
	if err := conn.QueryRow(t.Context(), rowsRead).Scan(&before); err != nil {
		t.Fatal(err)
	}
	for i := 1900; i <= many; i++ {
		read(i)
	}
	a.Close() // a connection that ends tells what it has read
	waitFor(t, url, `SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'levelboard'`)
	if err := conn.QueryRow(t.Context(), rowsRead).Scan(&after); err != nil {
		t.Fatal(err)
	}
	if after-before > many {
		t.Errorf("to read 100 keys and guilds the server went through %d rows", after-before)
	}
}
