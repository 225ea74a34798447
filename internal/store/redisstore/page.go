package redisstore

import (
	"cmp"
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
	p, err := pageOf(r)
	return p, wrap("page", err)
}

// pageOf reads what page.lua answered.
func pageOf(r reply) (p leaderboard.Page, err error) {
	var first int64
	if err := cmp.Or(versionOf(r, &p.Version), r.named(named{"first", &first})); err != nil {
		return p, err
	}
	p.Rows, err = rowsOf(r, first)
	return p, err
}

// rowsOf reads the rows and entries of a page that begins at first.
func rowsOf(page reply, first int64) ([]leaderboard.Ranked, error) {
	scores, err := page.list(page.of("rows"), -1)
	if err != nil {
		return nil, err
	}
	entries, err := page.list(page.of("entries"), len(scores)/2)
	if err != nil {
		return nil, err
	}
	rows := make([]leaderboard.Ranked, len(entries))
	for i := range rows {
		m, err := entryOf(entries, i)
		if err != nil {
			return nil, err
		}
		user, _, err := scores.text(2 * i)
		if err != nil {
			return nil, err
		}
		xp, err := scores.number(2*i + 1)
		if err != nil {
			return nil, err
		}
		m.UserID, m.XP = id.User(user), level.XP(xp)
		rows[i] = leaderboard.Ranked{Member: m, Rank: first + int64(i) + 1}
	}
	return rows, nil
}
