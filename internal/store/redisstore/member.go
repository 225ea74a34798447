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

// readMember reads a member, and the text of its entry, "" if that is missing.
func (s *Store) readMember(ctx context.Context, g leaderboard.GuildRef, user id.User) (m leaderboard.Ranked, entry string, err error) {
	k := keysOf(g.ID)
	c := redisconn.Call{Script: membersScript, Keys: append(k.board(), k.off()), Args: []any{int64(g.Incarnation), g.Hidden, string(user)}}
	if err := s.client.Share(ctx, &c); err != nil {
		return m, "", known(err)
	}
	row := newReply(c.Reply).at(0)
	return memberOf(row, user), row.of("entry").text(), row.done("member")
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
		if m, _, there := rankedOf(all.at(i), user); there {
			found = append(found, m.Member)
		}
	}
	return found, all.done("stored members")
}

// memberOf reads the answer of ranked.lua about a user who must be present.
func memberOf(r reply, user id.User) leaderboard.Ranked {
	m, absent, there := rankedOf(r, user)
	switch {
	case !there:
		r.keep(leaderboard.ErrNoMember)
	case absent:
		r.keep(leaderboard.ErrNotPresent)
	}
	return m
}

// rankedOf reads the answer of ranked.lua about a user.
func rankedOf(r reply, user id.User) (m leaderboard.Ranked, absent, there bool) {
	xp := r.of("xp")
	if !xp.there() {
		return m, false, false
	}
	m.Member, absent = entryOf(r.of("entry"))
	m.UserID, m.XP, m.Rank, m.Hidden = user, level.XP(xp.number()), r.of("rank").number()+1, r.of("off").there()
	return m, absent, true
}

// entryOf reads a member's entry, which has all but XP. A missing entry gives zero values.
func entryOf(r reply) (m leaderboard.Member, absent bool) {
	if !r.there() {
		return m, false
	}
	e, err := parseEntry(r.text())
	r.keep(err)
	m.MessageCount, m.LastUpdated, m.User = e.count, fromMillis(e.updated), e.user
	return m, e.absent
}
