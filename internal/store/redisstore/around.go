package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// Around implements leaderboard.Board, with the scripts of pages.
func (s *Store) Around(ctx context.Context, g leaderboard.GuildRef, user id.User, w leaderboard.Window) (found leaderboard.Around, err error) {
	if w.Limit < 1 || w.Limit > leaderboard.MaxAround {
		return found, fmt.Errorf("redis: around: %d is not a number of members", w.Limit)
	}
	if w.Period != nil {
		r, err := s.readStandings(ctx, g, *w.Period, 0, w.Limit, string(user))
		if err != nil {
			return found, err
		}
		board, err := standingsOf(r)
		return leaderboard.Around{Of: board.Members, Rows: board.Rows}, wrap("around", err)
	}
	r, err := s.run(ctx, pageScript, keysOf(g.ID).board(), int64(g.Incarnation), g.Hidden, 0, w.Limit, string(user))
	if err == nil {
		found, err = aroundOf(r)
		err = wrap("around", err)
	}
	return found, err
}

// aroundOf reads page.lua's answer around a member.
func aroundOf(r reply) (found leaderboard.Around, err error) {
	page, err := pageOf(r)
	if err != nil {
		return found, err
	}
	found.Rows = make([]leaderboard.Standing, len(page.Rows))
	for i, row := range page.Rows {
		found.Rows[i].Ranked = row
	}
	return found, r.named(named{"total", &found.Of})
}
