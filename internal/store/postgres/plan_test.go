package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/postgres"
	"levelboard/internal/testing/postgrestest"
)

// A service that started with nearly empty tables reads keys and guilds by their indexes when the tables are full. A plan from the start
// would read all rows.
func TestPlansFollowTheGrowthOfTables(t *testing.T) {
	url := postgrestest.URL(t)
	// Guild i is 200000000000000000 + i, and key i has access to the up to 20 guilds before it.
	grow := func(from, to int) {
		t.Helper()
		exec(t, url, fmt.Sprintf(`INSERT INTO guilds (id, incarnation, settings, version, created_ms)
			SELECT (200000000000000000 + i)::text, 1000000 + i, jsonb_build_object('id', (200000000000000000 + i)::text, 'name', 'g',
				'memberCount', 1, 'ownerId', '100000000000000001'), 1, 0 FROM generate_series(%d, %d) i`, from, to))
		exec(t, url, fmt.Sprintf(`INSERT INTO api_keys (id, hash, name, owner_id, permission, created_ms)
			SELECT 'key' || i, decode(repeat('00', 32), 'hex'), 'k', '1', 'read', 0 FROM generate_series(%d, %d) i`, from, to))
		exec(t, url, fmt.Sprintf(`INSERT INTO key_grants (key_id, guild_id, granted_by) SELECT 'key' || i, (200000000000000000 + g)::text, 'operator'
			FROM generate_series(%d, %d) i, generate_series(greatest(i - 20, 1), i) g`, from, to))
	}
	grow(1, 1)
	exec(t, url, `VACUUM ANALYZE`)
	// The server must not analyze a table meanwhile, which would make new plans.
	for _, table := range []string{"guilds", "api_keys", "key_grants"} {
		exec(t, url, `ALTER TABLE `+table+` SET (autovacuum_enabled = false)`)
	}
	a := open(t, url+"&pool_max_conns=1")
	read := func(i int) {
		t.Helper()
		k, err := a.Key(t.Context(), fmt.Sprint("key", i))
		if err != nil || len(k.GuildIDs) == 0 {
			t.Fatalf("key %d is %+v (%v), want it with grants", i, k, err)
		}
		mustGet(a.Guild(t.Context(), id.Guild(fmt.Sprint(200000000000000000+i))))(t)
	}
	for range 10 { // enough for the server to cache a plan
		read(1)
	}
	const many = 1000
	grow(2, many)
	readsFew(t, url, 5000, a, func(*postgres.Archive) { // a scan for each would read 50,000 and more
		for i := many - 50; i <= many; i++ {
			read(i)
		}
	})
}

// The statistics may be from when there were few keys or none, so that each key seems to have a large share of all grants. Later grants are
// read by the index all the same.
func TestKeysAreReadByTheirIndexWithOldStatistics(t *testing.T) {
	url := postgrestest.URL(t)
	const guilds, keys = 30_000, 100
	// The index by key is a level higher than the one by guild, as it may be after years, and so seems more expensive.
	long := strings.Repeat("k", 100)
	addGuilds := func(from, to int) string {
		return fmt.Sprintf(`INSERT INTO guilds (id, incarnation, settings, version, created_ms)
			SELECT (200000000000000000 + i)::text, i, '{}', 1, 0 FROM generate_series(%d, %d) i`, from, to)
	}
	exec(t, url, `ALTER TABLE key_grants SET (autovacuum_enabled = false)`)
	exec(t, url, addGuilds(1, 900))
	exec(t, url, grantAll("old", 3))
	exec(t, url, `VACUUM ANALYZE key_grants`)
	exec(t, url, addGuilds(901, guilds))
	exec(t, url, grantAll(long, keys))
	read := func(t *testing.T) {
		readsFew(t, url, 2*guilds, open(t, url+"&pool_max_conns=1"), func(a *postgres.Archive) { // a scan for each would read 3,000,000
			for i := range keys {
				k, err := a.Key(t.Context(), fmt.Sprint(long, i))
				if err != nil || len(k.GuildIDs) != guilds/keys {
					t.Fatalf("key %d has %d guilds (%v), want %d", i, len(k.GuildIDs), err, guilds/keys)
				}
			}
		})
	}
	t.Run("statistics of few keys", read)
	// These are the statistics after a vacuum, with grants in a random order.
	exec(t, url, `WITH c AS (UPDATE pg_class SET reltuples = 0 WHERE relname LIKE 'key_grants%' RETURNING oid)
		DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM c)`)
	t.Run("statistics of no keys", read)
}

// Anybody who signs in can open a page with their stored data. It must not read other users' rows.
func TestStoredDataOfAUserIsReadByIndexes(t *testing.T) {
	url := postgrestest.URL(t)
	exec(t, url, `INSERT INTO requests (incarnation, name, request, made_ms, outcome, users)
		SELECT 1, decode(lpad(to_hex(i), 32, '0'), 'hex'), '\x00', i, '', (200000000000000000 + i)::text FROM generate_series(1, 20000) i`)
	exec(t, url, `INSERT INTO audit (log, at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, reason, request_id)
		SELECT 1, i, 0, 'operator', '', '', 'xp', (200000000000000000 + i)::text, '', '', 'a reason', '' FROM generate_series(1, 20000) i`)
	exec(t, url, `VACUUM ANALYZE`)
	readsFew(t, url, 500, open(t, url), func(a *postgres.Archive) {
		for range 10 {
			if found, err := a.StoredOf(t.Context(), "300000000000000000"); err != nil || !found.Nothing() {
				t.Fatalf("the data stored of an unknown user is %+v (%v), want none", found, err)
			}
		}
	})
}

// grantAll creates this many keys, numbered from 0, and grants each an equal part of the guilds.
func grantAll(prefix string, keys int) string {
	return fmt.Sprintf(`WITH k AS (
			INSERT INTO api_keys (id, hash, name, owner_id, permission, created_ms)
			SELECT '%[1]s' || i, decode(repeat('00', 32), 'hex'), 'k', '1', 'read', 0 FROM generate_series(0, %[2]d - 1) i)
		INSERT INTO key_grants (key_id, guild_id, granted_by) SELECT '%[1]s' || incarnation %% %[2]d, id, 'operator' FROM guilds`, prefix, keys)
}

// readsFew fails if do makes the server read more than this many rows of tables and indexes. It closes the archive.
func readsFew(t *testing.T, url string, most int64, a *postgres.Archive, do func(a *postgres.Archive)) {
	t.Helper()
	read := counted(t, url, `SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables)::bigint + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)::bigint`,
		a, do)
	if read > most {
		t.Errorf("the server read %d rows, want at most %d", read, most)
	}
}

// counted returns by how much do raises a counter of the server. It closes the archive. A connection reports its reads when it ends, and up to
// a second late before that, so earlier connections must be gone.
func counted(t *testing.T, url, counter string, a *postgres.Archive, do func(a *postgres.Archive)) int64 {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { must(t, conn.Close(t.Context())) }()
	count := func(connections string) (n int64) {
		t.Helper()
		waitFor(t, url, `SELECT count(*) = 2 FROM pg_stat_activity
			WHERE datname = current_database() AND backend_type = 'client backend' AND `+connections)
		must(t, conn.QueryRow(t.Context(), counter).Scan(&n))
		return n
	}
	before := count(`application_name <> 'levelboard'`)
	do(a)
	a.Close()
	return count(`true`) - before
}
