package sqlarchive

import (
	"context"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

// closedFields are where a period's columns from id to gained go.
func closedFields(c *periods.Closed) []any {
	return []any{&c.ID, &c.Kind, &c.Name, &c.First, &c.End, millis{&c.Begins}, millis{&c.Ends}, &c.Members, &c.Totals.Gained}
}

// Closed implements periods.Archive.
func (c *Catalog) Closed(ctx context.Context, g leaderboard.GuildRef, periodID string) (periods.Closed, error) {
	return one(ctx, c, "read_period", orMissing(periods.ErrNotClosed, func(row Row) (p periods.Closed, err error) {
		var settings []byte
		if err = row.Scan(append(closedFields(&p), &settings)...); err == nil {
			p.Settings, err = guild.Unmarshal(settings)
		}
		p.Settings.ID = g.ID
		return p, err
	}), `
		SELECT id, kind, name, first_day, end_day, begins_ms, ends_ms, members, gained, settings FROM periods
		WHERE incarnation = $1 AND id = $2 AND board`,
		int64(g.Incarnation), periodID)
}

// ClosedPeriods implements periods.Archive.
func (c *Catalog) ClosedPeriods(ctx context.Context, g leaderboard.GuildRef, kind period.Kind, offset, limit int64) ([]periods.Closed, error) {
	found, err := c.withWinners(ctx, "list_periods", `
		SELECT '', p.incarnation, p.number, p.id, p.kind, p.name, p.first_day, p.end_day, p.begins_ms, p.ends_ms, p.members, p.gained,
			coalesce(s.rank, 0), coalesce(s.user_id, ''), coalesce(s.gained, 0), coalesce(s.xp, 0), coalesce(s.message_count, 0),
			s.updated_ms, s.avatar, coalesce(s.discriminator, ''), coalesce(s.username, ''), s.global_name, s.accent_colour
		FROM (
			SELECT * FROM periods WHERE incarnation + 0 = $1 AND board AND members > 0 AND ($2 = '' OR kind = $2)
			ORDER BY begins_ms DESC, ends_ms, number LIMIT $3 OFFSET $4) AS p
		LEFT JOIN standings s ON s.period = p.number AND s.rank <= $5
			AND s.user_id NOT IN (SELECT user_id FROM hidden_members WHERE incarnation = $1)
		ORDER BY p.begins_ms DESC, p.ends_ms, p.number, s.rank`, int64(g.Incarnation), string(kind), limit, offset, periods.ListWinners)
	closed := make([]periods.Closed, len(found))
	for i := range found {
		closed[i] = found[i].Closed
	}
	return closed, err
}

// Unannounced implements periods.Archive.
func (c *Catalog) Unannounced(ctx context.Context, after int64, limit int) ([]periods.Announcement, error) {
	return c.withWinners(ctx, "list_unannounced", `
		SELECT p.guild_id, p.incarnation, p.number, p.id, p.kind, p.name, p.first_day, p.end_day, p.begins_ms, p.ends_ms, p.members, p.gained,
			coalesce(s.rank, 0), coalesce(s.user_id, ''), coalesce(s.gained, 0), coalesce(s.xp, 0), coalesce(s.message_count, 0),
			s.updated_ms, s.avatar, coalesce(s.discriminator, ''), coalesce(s.username, ''), s.global_name, s.accent_colour
		FROM (
			SELECT g.id AS guild_id, periods.* FROM periods JOIN guilds g ON g.incarnation = periods.incarnation
			WHERE board AND members > 0 AND NOT announced AND number > $1 ORDER BY number LIMIT $2) AS p
		LEFT JOIN standings s ON s.period = p.number AND s.rank <= $3
			AND NOT EXISTS (SELECT 1 FROM hidden_members h WHERE h.incarnation = p.incarnation AND h.user_id = s.user_id)
		ORDER BY p.number, s.rank`, after, limit, periods.AnnouncedWinners)
}

// withWinners reads a page of periods, each with its first standings.
func (c *Catalog) withWinners(ctx context.Context, operation, query string, args ...any) (found []periods.Announcement, err error) {
	type line struct {
		periods.Announcement
		winner periods.Standing
	}
	lines, err := list(ctx, c, operation, columns(func(l *line) []any {
		fields := append([]any{&l.Guild.ID, &l.Guild.Incarnation, &l.Number}, closedFields(&l.Closed)...)
		return append(fields, standingFields(&l.winner)...)
	}), query, args...)
	last := int64(-1)
	for _, l := range lines {
		if l.Number != last {
			found, last = append(found, l.Announcement), l.Number
		}
		if l.winner.Rank > 0 {
			of := &found[len(found)-1]
			of.Winners = append(of.Winners, l.winner)
		}
	}
	return found, err
}

// Announced implements periods.Archive.
func (c *Catalog) Announced(ctx context.Context, a periods.Announcement) error {
	return c.run(ctx, "note_announced", `UPDATE periods SET announced = true WHERE incarnation = $1 AND id = $2`, int64(a.Guild.Incarnation), a.ID)
}

// Activity implements periods.Archive.
func (c *Catalog) Activity(ctx context.Context, g leaderboard.GuildRef, first, end period.Day) (all []periods.DayTotals, err error) {
	closed, err := c.dayTotals(ctx, `SELECT first_day, members, gained FROM periods
		WHERE incarnation + 0 = $1 AND kind = $2 AND first_day >= $3 AND first_day < $4 ORDER BY first_day`,
		int64(g.Incarnation), string(period.Daily), int64(first), int64(end))
	for _, d := range append(closed, periods.DayTotals{Day: end}) {
		if first < d.Day && err == nil {
			var open []periods.DayTotals
			open, err = c.openDays(ctx, g, first, d.Day)
			all = append(all, open...)
		}
		if d.Members > 0 {
			all = append(all, d)
		}
		first = d.Day + 1
	}
	return all, err
}

// openDays adds up days that have not closed: the last ones, and those on which counting was turned off.
func (c *Catalog) openDays(ctx context.Context, g leaderboard.GuildRef, first, end period.Day) ([]periods.DayTotals, error) {
	return c.dayTotals(ctx, `SELECT day, count(*), sum(gained) FROM gains
		WHERE incarnation + 0 = $1 AND day + 0 >= $2 AND day + 0 < $3 AND gained > 0
			AND user_id NOT IN (SELECT user_id FROM members WHERE incarnation = $1 AND NOT present)
			AND user_id NOT IN (SELECT user_id FROM hidden_members WHERE incarnation = $1)
		GROUP BY day ORDER BY day`, int64(g.Incarnation), int64(first), int64(end))
}

func (c *Catalog) dayTotals(ctx context.Context, query string, args ...any) ([]periods.DayTotals, error) {
	return list(ctx, c, "read_activity", columns(func(d *periods.DayTotals) []any { return []any{&d.Day, &d.Members, &d.Gained} }), query, args...)
}

// Resets implements periods.Archive.
func (c *Catalog) Resets(ctx context.Context, after id.Guild, limit int) ([]periods.Reset, error) {
	return list(ctx, c, "list_resets", columns(func(r *periods.Reset) []any { return []any{&r.Guild.ID, &r.Guild.Incarnation, &r.Why} }),
		`SELECT id, incarnation, reset FROM guilds WHERE reset <> '' AND id > $1 ORDER BY id LIMIT $2`, string(after), limit)
}

// Told implements periods.Archive.
func (c *Catalog) Told(ctx context.Context, r periods.Reset) error {
	return c.run(ctx, "note_reset", `UPDATE guilds SET reset = '' WHERE id = $1 AND incarnation = $2 AND reset = $3`,
		string(r.Guild.ID), int64(r.Guild.Incarnation), string(r.Why))
}

// standingFields are where the columns of a standing go. Where there is none, its rank is 0.
func standingFields(s *periods.Standing) []any {
	u := &s.User
	return []any{
		&s.Rank, &s.UserID, &s.Gained, &s.XP, &s.MessageCount,
		millis{&s.LastUpdated}, &u.Avatar, &u.Discriminator, &u.Username, &u.GlobalName, &u.AccentColour,
	}
}

// Standings implements periods.Archive.
func (c *Catalog) Standings(ctx context.Context, g leaderboard.GuildRef, periodID string, after int64, limit int) ([]periods.Standing, error) {
	return list(ctx, c, "read_standings", columns(standingFields), `
		SELECT s.rank, s.user_id, s.gained, s.xp, s.message_count,
			s.updated_ms, s.avatar, s.discriminator, s.username, s.global_name, s.accent_colour
		FROM standings s
		WHERE s.period = (SELECT number FROM periods WHERE incarnation = $1 AND id = $2 AND board) AND s.rank > $3
			AND s.user_id NOT IN (SELECT user_id FROM hidden_members WHERE incarnation = $1)
		ORDER BY s.rank LIMIT $4`,
		int64(g.Incarnation), periodID, after, limit)
}

// StandingsBefore implements periods.Archive.
func (c *Catalog) StandingsBefore(ctx context.Context, g leaderboard.GuildRef, periodID string, user id.User, limit int) (after int64, err error) {
	// The first rank of as many above as there should be, and of as many as there are at the end of the board.
	first, err := one(ctx, c, "read_standings", orMissing(leaderboard.ErrNoMember, columns(func(first *[2]int64) []any { return []any{&first[0], &first[1]} })), `
		WITH h AS MATERIALIZED (SELECT user_id FROM hidden_members WHERE incarnation = $1)
		SELECT
			coalesce((SELECT rank FROM standings WHERE period = s.period AND rank <= s.rank AND user_id NOT IN (SELECT user_id FROM h)
				ORDER BY rank DESC LIMIT 1 OFFSET $4), 1),
			coalesce((SELECT rank FROM standings WHERE period = s.period AND user_id NOT IN (SELECT user_id FROM h)
				ORDER BY rank DESC LIMIT 1 OFFSET $5), 1)
		FROM periods p JOIN standings s ON s.period + 0 = p.number
		WHERE p.incarnation = $1 AND p.id = $2 AND p.board AND s.user_id = $3 AND s.user_id NOT IN (SELECT user_id FROM h)`,
		int64(g.Incarnation), periodID, string(user), limit/2, limit-1)
	return min(first[0], first[1]) - 1, err
}
