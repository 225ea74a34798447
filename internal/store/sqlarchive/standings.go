package sqlarchive

import (
	"context"
	"database/sql"
	"errors"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

// scanStanding reads the columns of a standing, and columns before them. Where there is none, its rank is 0.
func scanStanding(row Row, before ...any) (s periods.Standing, err error) {
	var updated *int64
	u := &s.User
	err = row.Scan(append(before,
		&s.Rank, &s.UserID, &s.Gained, &s.XP, &s.MessageCount,
		&updated, &u.Avatar, &u.Discriminator, &u.Username, &u.GlobalName, &u.AccentColour)...)
	s.LastUpdated = fromMillis(updated)
	return s, err
}

// Standings implements periods.Archive.
func (c *Catalog) Standings(ctx context.Context, g leaderboard.GuildRef, periodID string, after int64, limit int) ([]periods.Standing, error) {
	return list(ctx, c, "read_standings", func(row Row) (periods.Standing, error) { return scanStanding(row) }, `
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
	scan := func(row Row) (int64, error) {
		var first, last int64 // the first rank of as many above as there should be, and of as many as there are at the end of the board
		err := row.Scan(&first, &last)
		if errors.Is(err, sql.ErrNoRows) {
			err = leaderboard.ErrNoMember
		}
		return min(first, last) - 1, err
	}
	return one(ctx, c, "read_standings", scan, `
		WITH h AS MATERIALIZED (SELECT user_id FROM hidden_members WHERE incarnation = $1)
		SELECT
			coalesce((SELECT rank FROM standings WHERE period = s.period AND rank <= s.rank AND user_id NOT IN (SELECT user_id FROM h)
				ORDER BY rank DESC LIMIT 1 OFFSET $4), 1),
			coalesce((SELECT rank FROM standings WHERE period = s.period AND user_id NOT IN (SELECT user_id FROM h)
				ORDER BY rank DESC LIMIT 1 OFFSET $5), 1)
		FROM periods p JOIN standings s ON s.period + 0 = p.number
		WHERE p.incarnation = $1 AND p.id = $2 AND p.board AND s.user_id = $3 AND s.user_id NOT IN (SELECT user_id FROM h)`,
		int64(g.Incarnation), periodID, string(user), limit/2, limit-1)
}
