package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// manyMembers returns an archive with a guild of tens of thousands of members.
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
	_, err = a.pool.Exec(t.Context(), `
		INSERT INTO members (incarnation, user_id, xp, message_count, discriminator, username, global_name, deleted, epoch, rev, written_ms)
		SELECT $1, '3' || lpad(i::text, 17, '0'), i, i, '0', 'gopher' || i, 'Gopher ' || i, false, 0, 0, 0
		FROM generate_series(0, 39999) AS i`, int64(g.Incarnation))
	if err == nil {
		_, err = a.pool.Exec(t.Context(), `VACUUM ANALYZE members`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a, g
}

// The statement is prepared once, so its plan knows none of the texts; the indexes must be used all the same.
func TestASearchUsesTheIndexes(t *testing.T) {
	a, g := manyMembers(t)
	conn, err := a.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, sql := range []string{`SET plan_cache_mode = force_generic_plan`, `PREPARE find AS ` + findNames} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.Query(t.Context(),
		fmt.Sprintf(`EXPLAIN EXECUTE find (%d, '{gopher,Gö}', '{gophes,Gü}', 21)`, g.Incarnation), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	for _, index := range []string{"members_username", "members_global_name"} {
		if !strings.Contains(plan, "Index Scan using "+index) && !strings.Contains(plan, "Index Only Scan using "+index) {
			t.Errorf("%s is not used", index)
		}
	}
	if strings.Contains(plan, "Seq Scan") || t.Failed() {
		t.Errorf("the plan:\n%s", plan)
	}
}

// An update that leaves the names alone must leave all indexes alone (docs/adr/0005-members-by-unnest.md).
func TestAnUpdateLeavesTheIndexesAlone(t *testing.T) {
	a, g := manyMembers(t)
	b := snapshot.Batch{Guild: g, Rev: 1}
	for i := range 500 {
		name := fmt.Sprintf("Gopher %d", 80*i)
		m := leaderboard.Member{UserID: id.User(fmt.Sprintf("3%017d", 80*i)), XP: 5, MessageCount: 6}
		m.User = leaderboard.User{Discriminator: "0", Username: fmt.Sprintf("gopher%d", 80*i), GlobalName: &name}
		b.Rows = append(b.Rows, snapshot.Row{Member: m})
	}
	err := a.inTx(t.Context(), "update", func(ctx context.Context, tx pgx.Tx) error {
		if err := upsert(ctx, tx, []snapshot.Batch{b}, sqlarchive.ReplaceOlder); err != nil {
			return err
		}
		var updated, hot int
		err := tx.QueryRow(ctx, `SELECT pg_stat_get_xact_tuples_updated('members'::regclass),
			pg_stat_get_xact_tuples_hot_updated('members'::regclass)`).Scan(&updated, &hot)
		if updated != len(b.Rows) || hot != updated {
			t.Errorf("of %d updates %d left the indexes alone, want all %d", updated, hot, len(b.Rows))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A build of the indexes that was cut off leaves one that is not valid, and the next migration must not take it for done.
func TestAnIndexThatWasNotFinishedIsBuiltAnew(t *testing.T) {
	a, g := manyMembers(t)
	for _, sql := range []string{
		`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'members_username'::regclass`,
		`DELETE FROM goose_db_version WHERE version_id >= 3`,
	} {
		if _, err := a.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var valid bool
	err := a.pool.QueryRow(t.Context(), `SELECT indisvalid FROM pg_index WHERE indexrelid = 'members_username'::regclass`).Scan(&valid)
	if err != nil || !valid {
		t.Errorf("valid: %v, %v", valid, err)
	}
	found, err := a.FindNames(t.Context(), g, []leaderboard.NameSpan{{From: "gopher 3999", Before: "gopher 399:"}}, 21)
	if err != nil || len(found) != 11 {
		t.Errorf("found %v, %v", found, err)
	}
}
