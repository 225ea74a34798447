package sqlite

import (
	"cmp"
	"context"
	"slices"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
)

// findNames looks one span up in both indexes of names; the conditions are word for word those of the indexes.
const findNames = `
	SELECT * FROM (
		SELECT lower(username) AS name, user_id FROM members
		WHERE incarnation = ?1 AND NOT deleted AND username <> '' AND lower(username) >= ?2 AND lower(username) < ?3
		ORDER BY 1, 2 LIMIT ?4)
	UNION
	SELECT * FROM (
		SELECT lower(global_name), user_id FROM members
		WHERE incarnation = ?1 AND NOT deleted AND global_name <> '' AND lower(global_name) >= ?2 AND lower(global_name) < ?3
		ORDER BY 1, 2 LIMIT ?4)`

// named is a member with one of its names, folded.
type named struct {
	name string
	user id.User
}

// FindNames implements leaderboard.Names.
func (a *Archive) FindNames(ctx context.Context, g leaderboard.GuildRef, spans []leaderboard.NameSpan, limit int) ([]id.User, error) {
	var all []named
	for _, span := range spans {
		rows, err := a.reader.QueryContext(ctx, findNames, int64(g.Incarnation), span.From, span.Before, limit)
		if err != nil {
			return nil, wrap("find names", err)
		}
		found, err := collect(rows, scanNamed)
		if err != nil {
			return nil, wrap("find names", err)
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(x, y named) int { return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.user, y.user)) })
	var users []id.User
	for _, n := range all {
		if len(users) < limit && !slices.Contains(users, n.user) {
			users = append(users, n.user)
		}
	}
	return users, nil
}

func scanNamed(row scanner) (n named, err error) {
	err = row.Scan(&n.name, &n.user)
	return n, err
}
