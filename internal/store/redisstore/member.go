package redisstore

import (
	"context"
	"fmt"
	"strings"

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
	m, err = memberOf(c.Reply)
	m.UserID = user
	if err == nil {
		entry, _, err = reply(c.Reply).text(2)
	}
	return m, entry, wrap("member", err)
}

// memberOf reads a member that members.lua answered, except for its id.
func memberOf(r reply) (m leaderboard.Ranked, err error) {
	if len(r) < 3 {
		return m, fmt.Errorf("%w: it is too short", errReply)
	}
	if r[0] == nil {
		if text, _ := r[2].(string); strings.HasPrefix(text, absentMark) {
			return m, leaderboard.ErrNotPresent
		}
		return m, leaderboard.ErrNoMember
	}
	var xp, above int64
	if err := r.numbers(&xp, &above); err != nil {
		return m, err
	}
	m.Member, err = entryOf(r, 2)
	m.XP, m.Rank = level.XP(xp), above+1
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
	m.MessageCount, m.LastUpdated = e.count, fromMillis(e.updated)
	m.User, err = decodeUser(e.user)
	return m, err
}
