package redisstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

var pageScript = newScript("page", "loaded", "values", "entry")

// Page implements leaderboard.Board.
func (s *Store) Page(ctx context.Context, g leaderboard.GuildRef, offset, limit int64, known leaderboard.Digest) (leaderboard.Page, error) {
	if offset < 0 || limit < 1 {
		return leaderboard.Page{}, fmt.Errorf("redis: page: offset %d and limit %d are not a page", offset, limit)
	}
	r, err := s.run(ctx, pageScript, keysOf(g.ID).board(), int64(g.Incarnation), g.Hidden, offset, limit, "")
	if err != nil {
		return leaderboard.Page{}, err
	}
	p, err := pageOf(r, known)
	return p, wrap("page", err)
}

// pageOf reads what page.lua answered; without rows when they are those that are known.
func pageOf(r reply, known leaderboard.Digest) (p leaderboard.Page, err error) {
	var first int64
	if err := cmp.Or(versionOf(r, &p.Version), r.named(named{"first", &first})); err != nil {
		return p, err
	}
	p.Rows, p.Digest, err = rowsOf(r, first, known)
	return p, err
}

// rowsOf reads the rows and entries of a page that begins at first, and their digest; without rows when they are those that are known.
func rowsOf(page reply, first int64, known leaderboard.Digest) (rows []leaderboard.Ranked, digest leaderboard.Digest, err error) {
	scores, err := page.list(page.of("rows"), -1)
	if err != nil {
		return nil, digest, err
	}
	entries, err := page.list(page.of("entries"), len(scores)/2)
	if err != nil {
		return nil, digest, err
	}
	if digest = digestOf(scores, entries); digest == known {
		return nil, digest, nil
	}
	rows = make([]leaderboard.Ranked, len(entries))
	for i := range rows {
		m, err := entryOf(entries, i)
		if err != nil {
			return nil, digest, err
		}
		user, _, err := scores.text(2 * i)
		if err != nil {
			return nil, digest, err
		}
		xp, err := scores.number(2*i + 1)
		if err != nil {
			return nil, digest, err
		}
		m.UserID, m.XP = id.User(user), level.XP(xp)
		rows[i] = leaderboard.Ranked{Member: m, Rank: first + int64(i) + 1}
	}
	return rows, digest, nil
}

// digestOf is over the elements of the lists as texts, each with its length before it.
func digestOf(lists ...reply) leaderboard.Digest {
	all := make([]byte, 0, 16<<10)
	for _, list := range lists {
		for _, v := range list {
			text, ok := v.(string)
			if !ok {
				text = fmt.Sprint(v)
			}
			all = binary.AppendUvarint(all, uint64(len(text)))
			all = append(all, text...)
		}
	}
	return leaderboard.DigestOf(all)
}
