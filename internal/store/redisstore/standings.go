package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

var standingsScript = newScript("standings", "loaded", "values", "entry")

// daysText returns the days around now as an argument of scripts; empty when the guild counts no gains.
func daysText(d *period.Days) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// Standings implements leaderboard.Board.
func (s *Store) Standings(ctx context.Context, g leaderboard.GuildRef, p period.Period, offset, limit int64) (leaderboard.Standings, error) {
	if offset < 0 || limit < 1 {
		return leaderboard.Standings{}, fmt.Errorf("redis: standings: offset %d and limit %d are not a page", offset, limit)
	}
	return s.readStandings(ctx, g, p, offset, limit, "")
}

// readStandings reads limit members from offset on, or around the member `middle` if it is not "".
func (s *Store) readStandings(ctx context.Context, g leaderboard.GuildRef, p period.Period, offset, limit int64, middle string) (found leaderboard.Standings, err error) {
	k, place := keysOf(g.ID), p.Kind.Place()
	r, err := s.run(ctx, standingsScript, append(k.board(), k.gains()[place-1]), int64(g.Incarnation), g.Hidden, place, p.Range(), offset, limit, middle)
	if err != nil {
		return found, err
	}
	gains, first := r.of("rows"), r.of("first").number()
	found = leaderboard.Standings{
		Version: versionOf(r), Members: r.of("members").number(), Gained: r.of("gained").number(), Rows: make([]leaderboard.Standing, gains.size()/2),
	}
	xp, entries := r.of("xp").sized(len(found.Rows)), r.of("entries").sized(len(found.Rows))
	for i := range found.Rows {
		row := &found.Rows[i]
		row.Member, _ = entryOf(entries.at(i))
		row.UserID, row.Gained = id.User(gains.at(2*i).text()), gains.at(2*i+1).number()
		row.XP, row.Rank = level.XP(xp.at(i).number()), first+int64(i)+1
	}
	return found, r.done("standings")
}

// EntryGains implements leaderboard.Board.
func (s *Store) EntryGains(ctx context.Context, g leaderboard.GuildRef, user id.User) (leaderboard.LatestGains, error) {
	_, text, err := s.readMember(ctx, g, user)
	if err != nil || text == "" {
		return leaderboard.LatestGains{}, err
	}
	e, err := parseEntry(text)
	return leaderboard.LatestGains{Days: e.gains, Fresh: e.fresh}, wrap("entry gains", err)
}
