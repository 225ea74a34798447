package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// matching are members with words that begin with each of $3, those who are present first: who came back may not be archived yet.
const matching = `
	NOT m.deleted AND m.words IS NOT NULL AND NOT EXISTS (SELECT FROM unnest($3::text[]) AS beginning WHERE position(beginning IN ' ' || m.words) = 0)
	ORDER BY m.present DESC, m.xp DESC, m.user_id DESC LIMIT $2`

// findNames looks at words that are at least $4 and below $5. Ranges and not LIKE: nothing in a text is special, and a statement that is prepared
// once for all texts still uses the index.
const findNames = `
	WITH found AS MATERIALIZED (
		SELECT user_id FROM member_words WHERE incarnation = $1 AND word >= $4 AND word < $5 LIMIT $6)
	SELECT (SELECT count(*) FROM found) >= $6, ARRAY(
		SELECT m.user_id
		FROM (SELECT DISTINCT user_id FROM found) AS f JOIN members m ON m.incarnation = $1 AND m.user_id = f.user_id
		WHERE` + matching + `)`

// findAll looks at every member: less than 1 µs for each, where one that is looked up by the index of words takes 10.
const findAll = `SELECT false, ARRAY(SELECT m.user_id FROM members m WHERE m.incarnation = $1 AND` + matching + `)`

// indexRestored puts the words of members who were copied from a checkpoint into the index.
const indexRestored = `
	INSERT INTO member_words
	SELECT incarnation, word, user_id FROM members, unnest(string_to_array(words, ' ')) AS word WHERE incarnation = $1 ON CONFLICT DO NOTHING`

// FindNames implements leaderboard.Names.
func (a *Archive) FindNames(ctx context.Context, g leaderboard.GuildRef, q leaderboard.Query, limits leaderboard.NameLimits) (found leaderboard.Candidates, err error) {
	ctx, cancel := bounded(ctx, "find_names")
	defer cancel()
	sql, args := findAll, []any{int64(g.Incarnation), limits.Users, q.Beginnings()}
	if limits.Words > 0 {
		from, before := q.Longest()
		sql, args = findNames, append(args, from, before, limits.Words)
	}
	err = a.pool.QueryRow(ctx, sql, args...).Scan(&found.Many, &found.Users)
	return found, wrap("find names", err)
}

// indexed is how many members one step of indexNames takes.
const indexed = 2000

// indexNames notes the words of members who have none: those that a version before wrote. It may be cut off anywhere, and called by many.
func indexNames(ctx context.Context, conn *pgx.Conn) error {
	for {
		rows, err := conn.Query(ctx, `SELECT incarnation, user_id, username, global_name FROM members WHERE words IS NULL AND NOT deleted LIMIT $1`, indexed)
		if err != nil {
			return err
		}
		var incarnations []int64
		var users, words []string
		var incarnation int64
		var user id.User
		var u leaderboard.User
		_, err = pgx.ForEachRow(rows, []any{&incarnation, &user, &u.Username, &u.GlobalName}, func() error {
			incarnations, users, words = append(incarnations, incarnation), append(users, string(user)), append(words, leaderboard.Words(u))
			return nil
		})
		if err != nil || len(users) == 0 {
			return err
		}
		// A row that another transaction holds is being written, with its words.
		done, err := conn.Exec(ctx, `
			WITH named AS (
				SELECT m.incarnation, m.user_id, r.words
				FROM unnest($1::bigint[], $2::text[], $3::text[]) AS r (incarnation, user_id, words) JOIN members m USING (incarnation, user_id)
				WHERE m.words IS NULL FOR NO KEY UPDATE OF m SKIP LOCKED)
			UPDATE members m SET words = n.words FROM named n WHERE m.incarnation = n.incarnation AND m.user_id = n.user_id`, incarnations, users, words)
		if err != nil || done.RowsAffected() == 0 {
			return err
		}
	}
}
