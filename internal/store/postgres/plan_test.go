package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/postgres"
	"levelboard/internal/testing/testenv"
)

// atHand is a database with the tables, and a connection to it for what the archive does not do itself.
func atHand(t *testing.T) (url string, conn *pgx.Conn, exec func(query string)) {
	t.Helper()
	url = testenv.Postgres(t)
	if err := open(t, url).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return url, conn, func(query string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
}

// A service that has been running since its tables were nearly empty reads keys and guilds by their indexes when they are not: a plan
// from then would go through all rows for each of them.
func TestReadsArePlannedByTheTablesAsTheyAre(t *testing.T) {
	url, conn, exec := atHand(t)
	// Guild i is 200000000000000000 + i, and key i is granted the guilds up to 100 before it.
	grow := func(from, to int) {
		t.Helper()
		exec(fmt.Sprintf(`INSERT INTO guilds (id, incarnation, settings, version, created_ms)
			SELECT (200000000000000000 + i)::text, 1000000 + i, jsonb_build_object('id', (200000000000000000 + i)::text, 'name', 'g',
				'memberCount', 1, 'ownerId', '100000000000000001'), 1, 0 FROM generate_series(%d, %d) i`, from, to))
		exec(fmt.Sprintf(`INSERT INTO api_keys (id, hash, name, owner_id, permission, created_ms)
			SELECT 'key' || i, decode(repeat('00', 32), 'hex'), 'k', '1', 'read', 0 FROM generate_series(%d, %d) i`, from, to))
		exec(fmt.Sprintf(`INSERT INTO key_grants (key_id, guild_id, granted_by) SELECT 'key' || i, (200000000000000000 + g)::text, 'operator'
			FROM generate_series(%d, %d) i, generate_series(greatest(i - 100, 1), i) g`, from, to))
	}
	grow(1, 1)
	exec(`VACUUM ANALYZE`)
	// No table is analyzed by the server itself meanwhile, which would have all be planned again.
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
	readsByIndex(t, url, conn, a, many, func() {
		for i := 1900; i <= many; i++ {
			read(i)
		}
	})
}

// The statistics may be from when there were few keys, each with a large share of all grants, or none. The many that came since are read by the
// index all the same.
func TestKeysAreReadByTheirIndexWhateverTheStatisticsSay(t *testing.T) {
	for name, statistics := range map[string]string{
		"of few keys": `VACUUM ANALYZE key_grants`,
		// As a vacuum leaves it, with grants of which the order in the table says nothing.
		"of none": `WITH c AS (UPDATE pg_class SET reltuples = 0 WHERE relname LIKE 'key_grants%' RETURNING oid)
			DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM c)`,
	} {
		t.Run(name, func(t *testing.T) { keysAreReadByTheirIndex(t, statistics) })
	}
}

func keysAreReadByTheirIndex(t *testing.T, statistics string) {
	url, conn, exec := atHand(t)
	const guilds, keys = 30_000, 100
	// The index by key is a level higher than the one by guild, which after years it may be, and so seems to cost more.
	long := strings.Repeat("k", 100)
	addGuilds := func(from, to int) string {
		return fmt.Sprintf(`INSERT INTO guilds (id, incarnation, settings, version, created_ms)
			SELECT (200000000000000000 + i)::text, i, '{}', 1, 0 FROM generate_series(%d, %d) i`, from, to)
	}
	for _, query := range []string{
		`ALTER TABLE key_grants SET (autovacuum_enabled = false)`,
		addGuilds(1, 900), grantAll("old", 3), `VACUUM ANALYZE key_grants`, statistics, addGuilds(901, guilds), grantAll(long, keys),
	} {
		exec(query)
	}
	a := open(t, url+"&pool_max_conns=1")
	readsByIndex(t, url, conn, a, guilds, func() {
		for i := range keys {
			k, err := a.Key(t.Context(), fmt.Sprint(long, i))
			if err != nil || len(k.GuildIDs) != guilds/keys {
				t.Fatalf("key %d: %d guilds, %v", i, len(k.GuildIDs), err)
			}
		}
	})
}

// grantAll makes so many keys, 0 and the numbers after it, and grants each as many of the guilds that are there.
func grantAll(prefix string, keys int) string {
	return fmt.Sprintf(`WITH k AS (
			INSERT INTO api_keys (id, hash, name, owner_id, permission, created_ms)
			SELECT '%[1]s' || i, decode(repeat('00', 32), 'hex'), 'k', '1', 'read', 0 FROM generate_series(0, %[2]d - 1) i)
		INSERT INTO key_grants (key_id, guild_id, granted_by) SELECT '%[1]s' || incarnation %% %[2]d, id, 'operator' FROM guilds`, prefix, keys)
}

// readsByIndex closes the archive, after read, and wants at most this many rows to have been read by going through a table, or through the
// grants of all keys.
func readsByIndex(t *testing.T, url string, conn *pgx.Conn, a *postgres.Archive, most int64, read func()) {
	t.Helper()
	rows := func() (n int64) {
		t.Helper()
		err := conn.QueryRow(t.Context(),
			`SELECT sum(seq_tup_read)::bigint + (SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'key_grants_guild')
			FROM pg_stat_user_tables WHERE relname IN ('guilds', 'api_keys', 'key_grants')`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := rows()
	read()
	a.Close() // a connection that ends tells what it has read
	waitFor(t, url, `SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'levelboard'`)
	if after := rows(); after-before > most {
		t.Errorf("to read the keys the server went through %d rows", after-before)
	}
}
