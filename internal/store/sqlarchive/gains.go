package sqlarchive

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

// LastDay implements hydrate.Archive.
func (c *Catalog) LastDay(ctx context.Context, g leaderboard.GuildRef) (period.Day, error) {
	return one(ctx, c, "read_last_day", scanValue[period.Day],
		`SELECT coalesce((SELECT day + 0 FROM gains WHERE incarnation + 0 = $1 ORDER BY day + 0 DESC LIMIT 1), 0)`, int64(g.Incarnation))
}

// History implements periods.Archive.
func (c *Catalog) History(ctx context.Context, g leaderboard.GuildRef, user id.User, first period.Day) ([]period.Gain, error) {
	return list(ctx, c, "read_gains", func(row Row) (gain period.Gain, err error) {
		err = row.Scan(&gain.Day, &gain.Gained)
		return gain, err
	}, `SELECT day, gained FROM gains WHERE incarnation = $1 AND user_id = $2 AND day >= $3 ORDER BY day`,
		int64(g.Incarnation), string(user), int64(first))
}

// GainedOn implements hydrate.Archive. The sums are read by the primary key, for a page of members.
func (c *Catalog) GainedOn(ctx context.Context, g leaderboard.GuildRef, from, to id.User, boards period.Boards) (map[id.User][]int64, error) {
	type sums struct {
		user   id.User
		gained []int64
	}
	args := []any{int64(g.Incarnation), string(from), string(to), int64(boards.First())}
	for _, p := range boards.Periods {
		args = append(args, int64(p.First), int64(p.End))
	}
	rows, err := list(ctx, c, "sum_gains", func(row Row) (s sums, err error) {
		s.gained = make([]int64, len(boards.Periods))
		err = row.Scan(&s.user, &s.gained[0], &s.gained[1], &s.gained[2], &s.gained[3])
		return s, err
	}, `
		SELECT user_id,
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $5 AND day < $6), 0) AS bigint),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $7 AND day < $8), 0) AS bigint),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $9 AND day < $10), 0) AS bigint),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $11 AND day < $12), 0) AS bigint)
		FROM gains WHERE incarnation = $1 AND user_id >= $2 AND user_id <= $3 AND day >= $4
		GROUP BY user_id`, args...)
	found := make(map[id.User][]int64, len(rows))
	for _, s := range rows {
		found[s.user] = s.gained
	}
	return found, err
}
