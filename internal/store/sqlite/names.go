package sqlite

import (
	"context"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
)

// FindNames implements leaderboard.Names. It looks at the members of the guild until enough match. SQLite rewrites the entries of an index with
// every update, so an index of words would more than double the time of every snapshot.
func (a *Archive) FindNames(ctx context.Context, g leaderboard.GuildRef, q leaderboard.Query, limits leaderboard.NameLimits) (found leaderboard.Candidates, err error) {
	beginnings, err := json.Marshal(q.Beginnings())
	if err != nil {
		return found, wrap("find_names", err)
	}
	rows, err := a.Reader.QueryContext(ctx, `
		SELECT user_id FROM members
		WHERE incarnation = $1 AND NOT deleted AND user_id NOT IN (SELECT user_id FROM hidden_members WHERE incarnation = $1)
			AND NOT EXISTS (SELECT 1 FROM json_each($2) WHERE instr(' ' || words, value) = 0)
		ORDER BY present DESC, xp DESC, user_id DESC LIMIT $3`, int64(g.Incarnation), string(beginnings), limits.Users)
	found.Users, err = sqlarchive.Collect(rows, err, func(row sqlarchive.Row) (user id.User, err error) {
		err = row.Scan(&user)
		return user, err
	})
	return found, wrap("find_names", err)
}
