package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// findNames looks each span up in both indexes of names; the conditions are word for word those of the indexes. Ranges and not
// LIKE: nothing in a text is special, and a statement that is prepared once for all texts still uses the indexes.
const findNames = `
	SELECT user_id
	FROM unnest($2::text[], $3::text[]) AS span (low, high), LATERAL (
		(SELECT user_id, lower(username COLLATE "C") AS name FROM members
		WHERE incarnation = $1 AND NOT deleted AND username <> ''
			AND lower(username COLLATE "C") >= low AND lower(username COLLATE "C") < high
		ORDER BY lower(username COLLATE "C"), user_id LIMIT $4)
		UNION ALL
		(SELECT user_id, lower(global_name COLLATE "C") AS name FROM members
		WHERE incarnation = $1 AND NOT deleted AND global_name <> ''
			AND lower(global_name COLLATE "C") >= low AND lower(global_name COLLATE "C") < high
		ORDER BY lower(global_name COLLATE "C"), user_id LIMIT $4)
	) AS found
	GROUP BY user_id ORDER BY min(name), user_id LIMIT $4`

// FindNames implements leaderboard.Names.
func (a *Archive) FindNames(ctx context.Context, g leaderboard.GuildRef, spans []leaderboard.NameSpan, limit int) ([]id.User, error) {
	ctx, cancel := bounded(ctx, "find_names")
	defer cancel()
	low, high := make([]string, len(spans)), make([]string, len(spans))
	for i, span := range spans {
		low[i], high[i] = span.From, span.Before
	}
	rows, err := a.pool.Query(ctx, findNames, int64(g.Incarnation), low, high, limit)
	if err != nil {
		return nil, wrap("find names", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[id.User])
	return found, wrap("find names", err)
}
