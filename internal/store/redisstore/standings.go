package redisstore

import (
	"cmp"
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

var standingsScript = newScript("standings", "loaded", "values", "entry")

// daysText passes the days around now to scripts; empty when nothing is counted.
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
	r, err := s.readStandings(ctx, g, p, offset, limit, "")
	if err != nil {
		return leaderboard.Standings{}, err
	}
	found, err := standingsOf(r)
	return found, wrap("standings", err)
}

// readStandings runs standings.lua.
func (s *Store) readStandings(ctx context.Context, g leaderboard.GuildRef, p period.Period, first, limit int64, middle string) (reply, error) {
	k, place := keysOf(g.ID), p.Kind.Place()
	return s.run(ctx, standingsScript, append(k.board(), k.gains()[place-1]), int64(g.Incarnation), g.Hidden, place, p.Range(), first, limit, middle)
}

// standingsOf reads what standings.lua answered.
func standingsOf(r reply) (s leaderboard.Standings, err error) {
	var offset int64
	err = cmp.Or(versionOf(r, &s.Version), r.named(named{"members", &s.Members}, named{"gained", &s.Gained}, named{"first", &offset}))
	if err != nil {
		return s, err
	}
	gains, err := r.list(r.of("rows"), -1)
	if err != nil {
		return s, err
	}
	xps, err := r.list(r.of("xp"), len(gains)/2)
	if err != nil {
		return s, err
	}
	entries, err := r.list(r.of("entries"), len(xps))
	if err != nil {
		return s, err
	}
	s.Rows = make([]leaderboard.Standing, len(xps))
	for i := range s.Rows {
		row := &s.Rows[i]
		if row.Member, err = entryOf(entries, i); err != nil {
			return s, err
		}
		user, _, err := gains.text(2 * i)
		if err != nil {
			return s, err
		}
		if row.Gained, err = gains.number(2*i + 1); err != nil {
			return s, err
		}
		xp, err := xps.number(i)
		if err != nil {
			return s, err
		}
		row.UserID, row.XP, row.Rank = id.User(user), level.XP(xp), offset+int64(i)+1
	}
	return s, nil
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
