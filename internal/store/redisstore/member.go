package redisstore

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

var membersScript = newScript("members", "loaded", "ranked")

// Member implements leaderboard.Board.
func (s *Store) Member(ctx context.Context, g leaderboard.GuildRef, user id.User) (leaderboard.Ranked, error) {
	m, _, err := s.readMember(ctx, g, user)
	return m, err
}

// readMember reads a member, and the text of its entry as well; "" where it is missing.
func (s *Store) readMember(ctx context.Context, g leaderboard.GuildRef, user id.User) (m leaderboard.Ranked, entry string, err error) {
	c := redisconn.Call{Script: membersScript, Keys: keysOf(g.ID).board(), Args: []any{int64(g.Incarnation), string(user)}}
	if err := s.client.Share(ctx, &c); err != nil {
		return m, "", known(err)
	}
	row, err := reply(c.Reply).list(0, -1)
	if err == nil {
		m, err = memberOf(row, user)
	}
	if err == nil {
		entry, _, err = row.text(row.of("entry"))
	}
	return m, entry, wrap("member", err)
}

// memberOf reads what ranked.lua answered about a user.
func memberOf(r reply, user id.User) (m leaderboard.Ranked, err error) {
	if xp, entry := r.of("xp"), r.of("entry"); r.at(xp) == nil && xp >= 0 {
		if r.at(entry) != nil {
			return m, leaderboard.ErrNotPresent
		}
		return m, leaderboard.ErrNoMember
	}
	var xp, above int64
	if err := r.named(named{"xp", &xp}, named{"rank", &above}); err != nil {
		return m, err
	}
	m.Member, err = entryOf(r, r.of("entry"))
	m.UserID, m.XP, m.Rank = user, level.XP(xp), above+1
	return m, err
}

// entryOf reads a member's entry, except for XP; where it is missing, it is as if nothing were known.
func entryOf(entries reply, i int) (m leaderboard.Member, err error) {
	text, ok, err := entries.text(i)
	if err != nil || !ok {
		return m, err
	}
	e, err := parseEntry(text)
	if err != nil {
		return m, err
	}
	m.MessageCount, m.LastUpdated, m.User = e.count, fromMillis(e.updated), e.user
	return m, nil
}
