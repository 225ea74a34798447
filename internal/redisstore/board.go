package redisstore

import (
	"context"
	"fmt"
	"time"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
	"levelboard/internal/level"
)

// Member implements leaderboard.Board.
func (s *Store) Member(ctx context.Context, g leaderboard.GuildRef, user id.User) (leaderboard.Ranked, error) {
	r, err := s.run(ctx, memberScript, keysOf(g.ID).members(), int64(g.Incarnation), string(user))
	if err != nil {
		return leaderboard.Ranked{}, err
	}
	var xp, rank int64
	if err := r.numbers(&xp, &rank); err != nil {
		return leaderboard.Ranked{}, fmt.Errorf("redis: member: %w", err)
	}
	m, _, err := entryOf(r, 2, r, 3)
	if err != nil {
		return leaderboard.Ranked{}, fmt.Errorf("redis: member: %w", err)
	}
	m.UserID, m.XP = user, level.XP(xp)
	return leaderboard.Ranked{Member: m, Rank: rank + 1}, nil
}

// Page implements leaderboard.Board.
func (s *Store) Page(ctx context.Context, g leaderboard.GuildRef, offset, limit int64) (leaderboard.Page, error) {
	if offset < 0 || limit < 1 {
		return leaderboard.Page{}, fmt.Errorf("redis: page: offset %d and limit %d are not a page", offset, limit)
	}
	r, err := s.run(ctx, pageScript, keysOf(g.ID).members(), int64(g.Incarnation), offset, offset+limit-1)
	if err != nil {
		return leaderboard.Page{}, err
	}
	p, err := pageOf(r, offset)
	if err != nil {
		return leaderboard.Page{}, fmt.Errorf("redis: page: %w", err)
	}
	return p, nil
}

func pageOf(r reply, offset int64) (p leaderboard.Page, err error) {
	if err := r.numbers(&p.Version.Epoch, &p.Version.Rev); err != nil {
		return p, err
	}
	scores, err := r.list(2, -1)
	if err != nil {
		return p, err
	}
	n := len(scores) / 2
	stats, err := r.list(3, n)
	if err != nil {
		return p, err
	}
	users, err := r.list(4, n)
	if err != nil {
		return p, err
	}
	p.Rows = make([]leaderboard.Ranked, n)
	for i := range n {
		m, _, err := entryOf(stats, i, users, i)
		if err != nil {
			return p, err
		}
		user, _, err := scores.text(2 * i)
		if err != nil {
			return p, err
		}
		xp, err := scores.number(2*i + 1)
		if err != nil {
			return p, err
		}
		m.UserID, m.XP = id.User(user), level.XP(xp)
		p.Rows[i] = leaderboard.Ranked{Member: m, Rank: offset + int64(i) + 1}
	}
	return p, nil
}

// entryOf reads a member's stat and user data; where one is missing, it is as if nothing of it were known.
func entryOf(stats reply, i int, users reply, j int) (m leaderboard.Member, cooldown time.Time, err error) {
	text, ok, err := stats.text(i)
	if err != nil {
		return m, cooldown, err
	}
	if ok {
		st, err := parseStat(text)
		if err != nil {
			return m, cooldown, err
		}
		m.MessageCount, m.LastUpdated, cooldown = st.count, fromMillis(st.updated), fromMillis(st.cooldown)
	}
	if text, _, err = users.text(j); err == nil {
		m.User, err = decodeUser(text)
	}
	return m, cooldown, err
}

// Version implements leaderboard.Board.
func (s *Store) Version(ctx context.Context, g leaderboard.GuildRef) (leaderboard.Version, error) {
	r, err := s.run(ctx, versionScript, []string{keysOf(g.ID).meta()}, int64(g.Incarnation))
	if err != nil {
		return leaderboard.Version{}, err
	}
	var v leaderboard.Version
	if err := r.numbers(&v.Epoch, &v.Rev); err != nil {
		return leaderboard.Version{}, fmt.Errorf("redis: version: %w", err)
	}
	return v, nil
}

// Create implements leaderboard.Board.
func (s *Store) Create(ctx context.Context, g leaderboard.GuildRef, user id.User, c leaderboard.Creation) (leaderboard.Outcome, error) {
	text, err := encodeUser(c.User)
	if err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: create: %w", err)
	}
	if err := checkXP(c.XP); err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: create: %w", err)
	}
	return s.change(ctx, createScript, g, c.Once, int64(g.Incarnation), string(user), int64(c.XP), text, s.sieves.of(c.Curve))
}

// Change implements leaderboard.Board.
func (s *Store) Change(ctx context.Context, g leaderboard.GuildRef, user id.User, c leaderboard.Change) (leaderboard.Outcome, error) {
	if err := checkXP(c.Amount); err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: change: %w", err)
	}
	switch c.Op {
	case leaderboard.Increment, leaderboard.Decrement, leaderboard.Set:
	default:
		return leaderboard.Outcome{}, fmt.Errorf("redis: change: unknown operation %q", c.Op)
	}
	return s.change(ctx, changeScript, g, c.Once, int64(g.Incarnation), string(user), string(c.Op), int64(c.Amount), cooldownMillis(c.Cooldown), s.sieves.of(c.Curve))
}

// Delete implements leaderboard.Board.
func (s *Store) Delete(ctx context.Context, g leaderboard.GuildRef, user id.User, once leaderboard.Once) (replayed bool, err error) {
	out, err := s.change(ctx, deleteScript, g, once, int64(g.Incarnation), string(user))
	return out.Replayed, err
}

// change runs a script that changes a member and answers {xp before, xp after, message count, first}.
func (s *Store) change(ctx context.Context, sc *script, g leaderboard.GuildRef, once leaderboard.Once, args ...any) (leaderboard.Outcome, error) {
	r, recorded, err := s.runOnce(ctx, sc, g, once, args...)
	if err != nil {
		return leaderboard.Outcome{}, err
	}
	if !recorded {
		s.noteChanged(ctx, g.ID, r.at(3))
	}
	var before, after, count int64
	if err := r.numbers(&before, &after, &count); err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: %s: %w", sc.name, err)
	}
	return leaderboard.Outcome{Before: level.XP(before), After: level.XP(after), MessageCount: count, Replayed: recorded}, nil
}

// noteChanged puts the guild into the index when a script said that its change is the first that waits for a snapshot.
// The change is made by then, so it is neither undone by the caller's context nor reported as failed: a guild that is
// missing from the index is found when the writer sweeps the loaded guilds.
func (s *Store) noteChanged(ctx context.Context, g id.Guild, first any) {
	if first == int64(1) {
		_ = s.MarkDirty(context.WithoutCancel(ctx), g)
	}
}

// cooldownMillis rounds up, so that a positive cooldown never becomes none.
func cooldownMillis(d time.Duration) int64 {
	return (max(d, 0) + time.Millisecond - 1).Milliseconds()
}

func checkXP(xp level.XP) error {
	if xp < 0 || xp > level.MaxXP {
		return fmt.Errorf("%d is not an amount of XP", xp)
	}
	return nil
}
