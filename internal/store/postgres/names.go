package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/usecase/leaderboard"
)

// namesTime ends a search at the server, in milliseconds: it needs a fraction of it, and anybody can search.
const namesTime = `SET LOCAL statement_timeout = 2000`

// findNames finds members with words that begin with each of $3, those who are present first: who came back may not be archived yet. It looks at
// words that are at least $4 and below $5. Ranges and not LIKE: nothing in a text is special, and a statement that is prepared once for all texts
// still uses the index. Who is hidden is left out before the members are read, or the planner would read them all.
const findNames = `
	WITH found AS MATERIALIZED (
		SELECT user_id FROM member_words WHERE incarnation = $1 AND word >= $4 AND word < $5 LIMIT $6)
	SELECT (SELECT count(*) FROM found) >= $6, ARRAY(
		SELECT m.user_id
		FROM (SELECT user_id FROM found EXCEPT SELECT user_id FROM hidden_members WHERE incarnation = $1) AS f
			JOIN members m ON m.incarnation = $1 AND m.user_id = f.user_id
		WHERE NOT m.deleted AND NOT EXISTS (SELECT FROM unnest($3::text[]) AS beginning WHERE position(beginning IN ' ' || m.words) = 0)
		ORDER BY m.present DESC, m.xp DESC, m.user_id DESC LIMIT $2)`

// findAll looks at every member: less than 1 µs for each, where one that is looked up by the index of words takes 10.
const findAll = `
	SELECT false, ARRAY(
		SELECT m.user_id FROM members m
		WHERE m.incarnation = $1 AND NOT m.deleted AND m.user_id NOT IN (SELECT user_id FROM hidden_members WHERE incarnation = $1)
			AND NOT EXISTS (SELECT FROM unnest($3::text[]) AS beginning WHERE position(beginning IN ' ' || m.words) = 0)
		ORDER BY m.present DESC, m.xp DESC, m.user_id DESC LIMIT $2)`

// FindNames implements leaderboard.Names.
func (a *Archive) FindNames(ctx context.Context, g leaderboard.GuildRef, q leaderboard.Query, limits leaderboard.NameLimits) (found leaderboard.Candidates, err error) {
	sql, args := findAll, []any{int64(g.Incarnation), limits.Users, q.Beginnings()}
	if limits.Words > 0 {
		from, before := q.Longest()
		sql, args = findNames, append(args, from, before, limits.Words)
	}
	ctx, cancel := bounded(ctx, "find_names")
	defer cancel()
	err = pgx.BeginFunc(ctx, a.pool, func(tx pgx.Tx) error {
		// Who asked may be gone long before the server hears of it.
		if _, err := tx.Exec(ctx, namesTime); err != nil {
			return err
		}
		return tx.QueryRow(ctx, sql, args...).Scan(&found.Many, &found.Users)
	})
	return found, wrap("find_names", err)
}
