package redisstore

import (
	"context"
	"errors"

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
	k := keysOf(g.ID)
	c := redisconn.Call{Script: membersScript, Keys: append(k.board(), k.off()), Args: []any{int64(g.Incarnation), g.Hidden, string(user)}}
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

// Stored implements leaderboard.Board.
func (s *Store) Stored(ctx context.Context, g leaderboard.GuildRef, users []id.User) ([]leaderboard.Member, error) {
	args := []any{int64(g.Incarnation), g.Hidden}
	for _, user := range users {
		args = append(args, string(user))
	}
	k := keysOf(g.ID)
	all, err := s.run(ctx, membersScript, append(k.board(), k.off()), args...)
	if err != nil {
		return nil, err
	}
	var found []leaderboard.Member
	for i, user := range users {
		row, err := all.list(i, -1)
		if err != nil {
			return nil, wrap("stored members", err)
		}
		m, _, err := rankedRow(row, user)
		if errors.Is(err, leaderboard.ErrNoMember) {
			continue
		}
		if err != nil {
			return nil, wrap("stored members", err)
		}
		found = append(found, m.Member)
	}
	return found, nil
}

// memberOf reads the answer of ranked.lua about a user who is not absent.
func memberOf(r reply, user id.User) (leaderboard.Ranked, error) {
	m, absent, err := rankedRow(r, user)
	if err == nil && absent {
		return leaderboard.Ranked{}, leaderboard.ErrNotPresent
	}
	return m, err
}

// rankedRow reads the answer of ranked.lua about a user.
func rankedRow(r reply, user id.User) (m leaderboard.Ranked, absent bool, err error) {
	if xp := r.of("xp"); r.at(xp) == nil && xp >= 0 {
		return m, false, leaderboard.ErrNoMember
	}
	var xp, above int64
	if err := r.named(named{"xp", &xp}, named{"rank", &above}); err != nil {
		return m, false, err
	}
	m.Member, absent, err = storedOf(r, r.of("entry"))
	m.UserID, m.XP, m.Rank, m.Hidden = user, level.XP(xp), above+1, r.of("off") >= 0
	return m, absent, err
}

// entryOf reads the entry of a member on the board, except for XP; where it is missing, it is as if nothing were known.
func entryOf(entries reply, i int) (m leaderboard.Member, err error) {
	m, _, err = storedOf(entries, i)
	return m, err
}

func storedOf(entries reply, i int) (m leaderboard.Member, absent bool, err error) {
	text, ok, err := entries.text(i)
	if err != nil || !ok {
		return m, false, err
	}
	e, err := parseEntry(text)
	if err != nil {
		return m, false, err
	}
	m.MessageCount, m.LastUpdated, m.User = e.count, fromMillis(e.updated), e.user
	return m, e.absent, nil
}
