package sqlite

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// FindNames implements leaderboard.Names. It looks at the members of the guild until enough match. SQLite rewrites the entries of an index with
// every update, so an index of names would more than double the time of every snapshot.
func (a *Archive) FindNames(ctx context.Context, g leaderboard.GuildRef, q leaderboard.Query, limits leaderboard.NameLimits) (found leaderboard.Candidates, err error) {
	rows, err := a.reader.QueryContext(ctx, `
		SELECT user_id, username, global_name FROM members
		WHERE incarnation = ? AND NOT deleted AND (username <> '' OR global_name <> '') ORDER BY present DESC, xp DESC, user_id DESC`, int64(g.Incarnation))
	if err != nil {
		return found, wrap("find names", err)
	}
	defer rows.Close()
	for len(found.Users) < limits.Users && rows.Next() {
		var user id.User
		var names leaderboard.User
		if err := rows.Scan(&user, &names.Username, &names.GlobalName); err != nil {
			return found, wrap("find names", err)
		}
		if q.Matches(names) {
			found.Users = append(found.Users, user)
		}
	}
	return found, wrap("find names", rows.Err())
}
