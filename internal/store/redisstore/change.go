package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

var changing = []string{"loaded", "now", "note", "append", "absent", "counting", "packed", "changing"}

var changeScript = newChangeScript("change")

// newChangeScript makes a script whose changes wait for replicas.
func newChangeScript(name string) *redisconn.Script {
	return makeScript(name, redisconn.ScriptOptions{Waits: true}, changing)
}

// Change implements leaderboard.Board.
func (s *Store) Change(ctx context.Context, g leaderboard.GuildRef, user id.User, c leaderboard.Change) (leaderboard.Outcome, error) {
	change, err := changeText(c)
	if err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: change: %w", err)
	}
	sieve := s.sieves.of(c.Curve)
	if c.Once.Named() || c.Audit != nil {
		return s.changeOne(ctx, changeScript, g, kept{c.Once, c.Days, c.Audit}, sieve, string(user), change)
	}
	l := redisconn.Call{
		Script: changeScript, Keys: keysOf(g.ID).changes(g.Incarnation, c.Days != nil),
		Args: []any{int64(g.Incarnation), daysText(c.Days), sieve, string(user), change},
	}
	err = s.client.Share(ctx, &l)
	s.noteChanged(g.ID, err)
	return outcome(&l, err)
}

// changeText is how change.lua gets a change.
func changeText(c leaderboard.Change) (string, error) {
	if err := checkXP(c.Amount); err != nil {
		return "", err
	}
	text := make([]byte, 0, 32)
	switch c.Op {
	case leaderboard.Increment:
	case leaderboard.Decrement:
		text = append(text, '-')
	case leaderboard.Set:
		text = append(text, '=')
	default:
		return "", fmt.Errorf("unknown operation %q", c.Op)
	}
	text = strconv.AppendInt(text, int64(c.Amount), 10)
	if cooldown := cooldownMillis(c.Cooldown); cooldown > 0 {
		text = strconv.AppendInt(append(text, ' '), cooldown, 10)
	}
	return string(text), nil
}

// changeOne runs a script that changes one member.
func (s *Store) changeOne(ctx context.Context, sc *redisconn.Script, g leaderboard.GuildRef, k kept, args ...any) (leaderboard.Outcome, error) {
	c, recorded, err := s.runOnce(ctx, sc, g, k, args...)
	if recorded == nil {
		return outcome(c, err)
	}
	if err != nil {
		return leaderboard.Outcome{}, err
	}
	out, err := outcomeOf(sc, recorded)
	out.Replayed = true
	return out, err
}

// outcome reads what became of one member, {before, after, count}. If too few replicas have the change, it says whether it changed
// nothing.
func outcome(c *redisconn.Call, err error) (leaderboard.Outcome, error) {
	if err != nil && !errors.Is(err, redisconn.ErrNotReplicated) {
		return leaderboard.Outcome{}, known(err)
	}
	out, refused := outcomeOf(c.Script, reply(c.Reply))
	if refused != nil || err == nil {
		return out, refused
	}
	return leaderboard.Outcome{}, known(err)
}

// What a script answers as the XP before of a member whom it did not change.
const (
	noMember      = -1
	damagedMember = -2
	absentMember  = -3
)

// outcomeOf reads {before, after, count}.
func outcomeOf(sc *redisconn.Script, r reply) (leaderboard.Outcome, error) {
	var before, after, count int64
	if err := r.numbers(&before, &after, &count); err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: %s: %w", sc.Name(), err)
	}
	switch before {
	case noMember:
		return leaderboard.Outcome{}, leaderboard.ErrNoMember
	case absentMember:
		return leaderboard.Outcome{}, leaderboard.ErrNotPresent
	case damagedMember:
		return leaderboard.Outcome{}, fmt.Errorf("redis: %s: %w: the member's entry is damaged", sc.Name(), errReply)
	}
	return leaderboard.Outcome{Before: level.XP(before), After: level.XP(after), MessageCount: count}, nil
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
