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
		board, err := s.readStandings(ctx, g, *w.Period, 0, w.Limit, string(user))
		return leaderboard.Around{Of: board.Members, Rows: board.Rows}, err
	}
	r, err := s.run(ctx, pageScript, keysOf(g.ID).board(), int64(g.Incarnation), g.Hidden, 0, w.Limit, string(user))
	if err != nil {
		return found, err
	}
	rows := leaderboard.WithoutGains(rowsOf(r, r.of("first").number()))
	return leaderboard.Around{Of: r.of("total").number(), Rows: rows}, r.done("around")
}
