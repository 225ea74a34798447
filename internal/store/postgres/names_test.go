package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"levelboard/internal/domain/id"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// A search in a guild of ten thousand members uses the indexes, and an update without a new name leaves them alone.
func TestIndexesOfALargeGuildAreUsed(t *testing.T) {
	a, g := manyMembers(t)
	t.Run("a search uses the indexes", func(t *testing.T) { searchUsesIndexes(t, a, g) })
	t.Run("a search that takes too long is ended by the server", func(t *testing.T) { searchIsEnded(t, a, g) })
	t.Run("an update leaves the indexes alone", func(t *testing.T) { updateLeavesIndexesAlone(t, a, g) })
}

func manyMembers(t *testing.T) (*Archive, leaderboard.GuildRef) {
	a, err := Open(t.Context(), testenv.Postgres(t), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := leaderboard.GuildRef{ID: "100000000000000001", Incarnation: 7}
	_, err = a.pool.Exec(t.Context(), `INSERT INTO guilds (id, incarnation, settings, version, created_ms) VALUES ($1, $2, '{}', 1, 0)`, string(g.ID), int64(g.Incarnation))
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.pool.Exec(t.Context(), `
		INSERT INTO members (incarnation, user_id, xp, message_count, discriminator, username, global_name, words, present, deleted, epoch, rev, written_ms)
		SELECT $1, '3' || lpad(i::text, 17, '0'), i, i, '0', 'gopher' || i, 'Gopher ' || i, concat_ws(' ', i, 'gopher', 'gopher' || i), true, false, 0, 1, 0
		FROM generate_series(0, 9999) AS i`, int64(g.Incarnation))
	if err == nil {
		_, err = a.pool.Exec(t.Context(), `VACUUM ANALYZE members, member_words`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a, g
}

// The statement is prepared once, so its plan does not know the texts. It must use the indexes all the same.
func searchUsesIndexes(t *testing.T, a *Archive, g leaderboard.GuildRef) {
	conn, err := a.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, sql := range []string{`SET plan_cache_mode = force_generic_plan`, `PREPARE find (bigint, integer, text[], text, text, integer) AS ` + findNames} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.Query(t.Context(),
		fmt.Sprintf(`EXPLAIN EXECUTE find (%d, 100, '{" gopher"}', 'gopher', 'gophes', 5000)`, g.Incarnation), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	for _, index := range []string{"members_pkey", "member_words_pkey"} {
		if !strings.Contains(plan, "Index Scan using "+index) && !strings.Contains(plan, "Index Only Scan using "+index) {
			t.Errorf("the plan does not use the index %s", index)
		}
	}
	if strings.Contains(plan, "Seq Scan") || t.Failed() {
		t.Errorf("the plan, want one without a sequential scan:\n%s", plan)
	}
}

func searchIsEnded(t *testing.T, a *Archive, g leaderboard.GuildRef) {
	q, err := leaderboard.ParseQuery("gopher")
	if err != nil {
		t.Fatal(err)
	}
	err = pgx.BeginFunc(t.Context(), a.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `LOCK TABLE members, member_words`); err != nil {
			return err
		}
		_, err := a.FindNames(t.Context(), g, q, leaderboard.NameLimits{Users: 1})
		if ended := (*pgconn.PgError)(nil); !errors.As(err, &ended) || ended.Code != pgerrcodeCanceled {
			t.Errorf("the slow search ended with %v, want the server's query_canceled", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// pgerrcodeCanceled is query_canceled, from statement_timeout, before the client gives up.
const pgerrcodeCanceled = "57014"

// An update without a new name must leave all indexes alone (docs/adr/0005-members-by-json.md).
func updateLeavesIndexesAlone(t *testing.T, a *Archive, g leaderboard.GuildRef) {
	b := snapshot.Batch{Guild: g, Rev: 2}
	for i := range 500 {
		name := fmt.Sprintf("Gopher %d", 20*i)
		m := leaderboard.Member{UserID: id.User(fmt.Sprintf("3%017d", 20*i)), XP: 5, MessageCount: 6}
		m.User = leaderboard.User{Discriminator: "0", Username: fmt.Sprintf("gopher%d", 20*i), GlobalName: &name}
		b.Rows = append(b.Rows, snapshot.Row{Member: m})
	}
	l, err := a.AcquireLease(t.Context(), "writer", time.Hour, false)
	if err == nil {
		b.Known = b.Rev
		err = snapshot.WriteBatch(t.Context(), a, l, b)
	}
	if err != nil {
		t.Fatal(err)
	}
	var updated, hot int
	testenv.Wait(t, "the server has counted the updates", func() bool { // connections report up to a second late
		err := a.pool.QueryRow(t.Context(), `SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'members'`).Scan(&updated, &hot)
		if err != nil {
			t.Fatal(err)
		}
		return updated > 0
	})
	if updated != len(b.Rows) || hot != updated {
		t.Errorf("of %d updates %d left the indexes alone, want all %d", updated, hot, len(b.Rows))
	}
}
