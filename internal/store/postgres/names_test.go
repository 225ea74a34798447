package postgres

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/id"
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
		INSERT INTO members (incarnation, user_id, xp, message_count, discriminator, username, global_name, words, deleted, epoch, rev, written_ms)
		SELECT $1, '3' || lpad(i::text, 17, '0'), i, i, '0', 'gopher' || i, 'Gopher ' || i, concat_ws(' ', i, 'gopher', 'gopher' || i), false, 0, 1, 0
		FROM generate_series(0, 39999) AS i`, int64(g.Incarnation))
	if err == nil {
		_, err = a.pool.Exec(t.Context(), `VACUUM ANALYZE members, member_words`)
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
	b := snapshot.Batch{Guild: g, Rev: 2}
	for i := range 500 {
		name := fmt.Sprintf("Gopher %d", 80*i)
		m := leaderboard.Member{UserID: id.User(fmt.Sprintf("3%017d", 80*i)), XP: 5, MessageCount: 6}
		m.User = leaderboard.User{Discriminator: "0", Username: fmt.Sprintf("gopher%d", 80*i), GlobalName: &name}
		b.Rows = append(b.Rows, snapshot.Row{Member: m})
	}
	err := a.inTx(t.Context(), "update", func(ctx context.Context, tx pgx.Tx) error {
		if err := upsert(ctx, tx, []snapshot.Batch{b}, replaceOlder); err != nil {
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

// What a version before wrote has no words; and a build of an index that was cut off leaves one that is not valid, which the next migration must
// not take for done.
func TestWhatHasNoWordsGetsThemWithTheMigrations(t *testing.T) {
	a, g := manyMembers(t)
	for _, sql := range []string{
		`UPDATE members SET words = NULL`,
		`INSERT INTO members (incarnation, user_id, xp, message_count, discriminator, username, deleted, epoch, rev, written_ms) VALUES (7, '1', 1, 1, '0', 'ÉLAN vital', false, 0, 0, 0)`,
		`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'members_wordless'::regclass`,
		`DELETE FROM goose_db_version WHERE version_id >= 12`,
	} {
		if _, err := a.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var valid bool
	err := a.pool.QueryRow(t.Context(), `SELECT indisvalid FROM pg_index WHERE indexrelid = 'members_wordless'::regclass`).Scan(&valid)
	if err != nil || !valid {
		t.Errorf("valid: %v, %v", valid, err)
	}
	for text, want := range map[string]leaderboard.Candidates{"élan": {Users: []id.User{"1"}}, "gopher39999": {Users: []id.User{"300000000000039999"}}} {
		q, err := leaderboard.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.FindNames(t.Context(), g, q, leaderboard.NameLimits{Users: 21, Words: 1000}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: found %+v, %v", text, got, err)
		}
	}
	q, _ := leaderboard.ParseQuery("gopher")
	if got, err := a.FindNames(t.Context(), g, q, leaderboard.NameLimits{Users: 21, Words: 1000}); err != nil || len(got.Users) != 21 || !got.Many {
		t.Errorf("of a word that all have: %+v, %v", got, err)
	}
}
