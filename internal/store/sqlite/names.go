package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
)

// isNamed is whether a member has a name in a span. SQLite's lower knows the letters of ASCII only, which is what a span wants.
const isNamed = `(lower(username) >= ? AND lower(username) < ? OR lower(global_name) >= ? AND lower(global_name) < ?)`

// FindNames implements leaderboard.Names. It looks at every member of the guild, 50,000 in some 50 ms. SQLite rewrites the entries of an
// index with every update, so an index of names would more than double the time of every snapshot.
func (a *Archive) FindNames(ctx context.Context, g leaderboard.GuildRef, spans []leaderboard.NameSpan, limit int) ([]id.User, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	args := []any{int64(g.Incarnation)}
	for _, span := range spans {
		args = append(args, span.From, span.Before, span.From, span.Before)
	}
	rows, err := a.reader.QueryContext(ctx, `
		SELECT user_id, lower(username), coalesce(lower(global_name), '') FROM members
		WHERE incarnation = ? AND NOT deleted AND (`+strings.Repeat(isNamed+` OR `, len(spans)-1)+isNamed+`)`, args...)
	all, err := sqlarchive.Collect(rows, err, func(row sqlarchive.Row) (n named, err error) {
		var username, globalName string
		err = row.Scan(&n.user, &username, &globalName)
		n.name = firstName(spans, username, globalName)
		return n, err
	})
	if err != nil {
		return nil, wrap("find names", err)
	}
	slices.SortFunc(all, func(x, y named) int { return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.user, y.user)) })
	users := make([]id.User, min(limit, len(all)))
	for i := range users {
		users[i] = all[i].user
	}
	return users, nil
}

// named is a member with the first of its names that was looked for.
type named struct {
	name string
	user id.User
}

func firstName(spans []leaderboard.NameSpan, names ...string) (first string) {
	for _, name := range names {
		wanted := slices.ContainsFunc(spans, func(s leaderboard.NameSpan) bool { return s.From <= name && name < s.Before })
		if wanted && (first == "" || name < first) {
			first = name
		}
	}
	return first
}
