package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

var pageScript = newScript("page", "loaded", "values", "entry")

// Page implements leaderboard.Board.
func (s *Store) Page(ctx context.Context, g leaderboard.GuildRef, offset, limit int64) (leaderboard.Page, error) {
	if offset < 0 || limit < 1 {
		return leaderboard.Page{}, fmt.Errorf("redis: page: offset %d and limit %d are not a page", offset, limit)
	}
	r, err := s.run(ctx, pageScript, keysOf(g.ID).board(), int64(g.Incarnation), g.Hidden, offset, limit, "")
	if err != nil {
		return leaderboard.Page{}, err
	}
	return leaderboard.Page{Version: versionOf(r), Rows: rowsOf(r, r.of("first").number())}, r.done("page")
}

// rowsOf reads the rows and entries of a page that begins at first.
func rowsOf(page reply, first int64) []leaderboard.Ranked {
	scores := page.of("rows")
	rows := make([]leaderboard.Ranked, scores.size()/2)
	entries := page.of("entries").sized(len(rows))
	for i := range rows {
		m, _ := entryOf(entries.at(i))
		m.UserID, m.XP = id.User(scores.at(2*i).text()), level.XP(scores.at(2*i+1).number())
		rows[i] = leaderboard.Ranked{Member: m, Rank: first + int64(i) + 1}
	}
	return rows
}
