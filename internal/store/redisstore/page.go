package redisstore

import (
	"context"
	"encoding/binary"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

var pageScript = newScript("page", "loaded", "values", "absent", "around")

// Page implements leaderboard.Board.
func (s *Store) Page(ctx context.Context, g leaderboard.GuildRef, offset, limit int64, known leaderboard.Digest) (leaderboard.Page, error) {
	if offset < 0 || limit < 1 {
		return leaderboard.Page{}, fmt.Errorf("redis: page: offset %d and limit %d are not a page", offset, limit)
	}
	r, err := s.run(ctx, pageScript, keysOf(g.ID).board(), int64(g.Incarnation), offset, offset+limit-1)
	if err != nil {
		return leaderboard.Page{}, err
	}
	p, err := pageOf(r, offset, known)
	return p, wrap("page", err)
}

// pageOf reads {epoch, rev, {member, xp, ...}, {entry, ...}}; without rows when they are those that are known.
func pageOf(r reply, offset int64, known leaderboard.Digest) (p leaderboard.Page, err error) {
	if err := r.numbers(&p.Version.Epoch, &p.Version.Rev); err != nil {
		return p, err
	}
	scores, err := r.list(2, -1)
	if err != nil {
		return p, err
	}
	entries, err := r.list(3, len(scores)/2)
	if err != nil {
		return p, err
	}
	if p.Digest = digestOf(scores, entries); p.Digest != known {
		p.Rows, err = rowsOf(scores, entries, offset)
	}
	return p, err
}

func rowsOf(scores, entries reply, offset int64) ([]leaderboard.Ranked, error) {
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
		rows[i] = leaderboard.Ranked{Member: m, Rank: offset + int64(i) + 1}
	}
	return rows, nil
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
