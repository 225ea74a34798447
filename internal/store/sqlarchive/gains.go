package sqlarchive

import (
	"context"
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// lastDays is how many days of gains Members brings, back from the incarnation's newest one.
const lastDays = 3

// LastDay implements hydrate.Archive.
func (c *Catalog) LastDay(ctx context.Context, g leaderboard.GuildRef) (period.Day, error) {
	return one(ctx, c, "read_last_day", scanValue[period.Day],
		`SELECT coalesce((SELECT day + 0 FROM gains WHERE incarnation + 0 = $1 ORDER BY day + 0 DESC LIMIT 1), 0)`, int64(g.Incarnation))
}

// SinceDay returns the first day whose gains a member has to bring when last is the incarnation's newest; 0 when there are no gains.
func SinceDay(last period.Day) period.Day {
	if last == 0 {
		return 0
	}
	return max(1, last-lastDays+1)
}

// MemberGains is a column for ScanMemberGains: the gains of the row of members from the day on that is this parameter; none when it is 0, which
// costs nothing.
func MemberGains(day string) string {
	return `CASE WHEN ` + day + ` = 0 THEN '' ELSE coalesce((
		SELECT string_agg(day || ':' || gained, ',' ORDER BY day DESC) FROM gains g
		WHERE g.incarnation = members.incarnation AND g.user_id = members.user_id AND g.day >= ` + day + `), '') END`
}

// ScanMemberGains reads MemberColumns and then MemberGains.
func ScanMemberGains(row Row) (snapshot.Row, error) {
	var text string
	r, err := scanMember(row, &text)
	if err == nil {
		r.Gains, err = period.ParseGains(text)
	}
	return r, err
}

// History implements periods.Archive.
func (c *Catalog) History(ctx context.Context, g leaderboard.GuildRef, user id.User, first period.Day) ([]period.Gain, error) {
	return list(ctx, c, "read_gains", func(row Row) (gain period.Gain, err error) {
		err = row.Scan(&gain.Day, &gain.Gained)
		return gain, err
	}, `SELECT day, gained FROM gains WHERE incarnation = $1 AND user_id = $2 AND day >= $3 ORDER BY day`,
		append(c.Fresh, int64(g.Incarnation), string(user), int64(first))...)
}

// Gainers implements periods.Archive.
func (c *Catalog) Gainers(ctx context.Context, g leaderboard.GuildRef, first, end period.Day, after id.User, limit int) ([]id.User, error) {
	return list(ctx, c, "list_gainers", scanValue[id.User], `
		SELECT DISTINCT user_id FROM gains WHERE incarnation = $1 AND user_id > $2 AND day >= $3 AND day < $4 ORDER BY user_id LIMIT $5`,
		int64(g.Incarnation), string(after), int64(first), int64(end), limit)
}

// Sums implements periods.Archive. Days that are left out for any of the users are read one by one, in the same statement as the sum of the
// others: a batch may be written meanwhile.
func (c *Catalog) Sums(ctx context.Context, g leaderboard.GuildRef, first, end period.Day, users []id.User, without [][]period.Day) ([]int64, error) {
	apart, apartEnd := end, end
	if named := slices.Concat(without...); len(named) > 0 {
		apart, apartEnd = min(max(slices.Min(named), first), end), max(min(slices.Max(named)+1, end), first)
	}
	type sum struct {
		n     int
		total int64
		days  string
	}
	found, err := list(ctx, c, "sum_gains", func(row Row) (s sum, err error) {
		err = row.Scan(&s.n, &s.total, &s.days)
		return s, err
	}, `
		SELECT n,
			coalesce((SELECT CAST(sum(gained) AS bigint) FROM gains
				WHERE incarnation = $1 AND user_id = l.value AND day >= $2 AND day < $3 AND (day < $4 OR day >= $5)), 0),
			coalesce((SELECT string_agg(day || ':' || gained, ',') FROM gains
				WHERE incarnation = $1 AND user_id = l.value AND day >= $4 AND day < $5), '')
		FROM `+c.List("$6"), append(c.Fresh, int64(g.Incarnation), int64(first), int64(end), int64(apart), int64(apartEnd), jsonList(users))...)
	sums := make([]int64, len(users))
	for _, s := range found {
		gains, bad := period.ParseGains(s.days)
		if bad != nil {
			return nil, Wrap(c.Name, "sum_gains", bad)
		}
		for _, gain := range gains {
			if n := s.n - 1; n >= len(without) || !slices.Contains(without[n], gain.Day) {
				s.total += gain.Gained
			}
		}
		sums[s.n-1] = s.total
	}
	return sums, err
}
