package redisstore

import (
	"context"
	"fmt"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

// changing lists the files of prelude that scripts use to change members.
var changing = []string{"loaded", "now", "request", "entry", "clamp", "boards", "gains", "level", "event", "note"}

var changeScript = newChangeScript("change", changing...)

// newChangeScript makes a script whose changes wait for replicas.
func newChangeScript(name string, prelude ...string) *redisconn.Script {
	return makeScript(name, redisconn.ScriptOptions{Waits: true}, prelude)
}

// Change implements leaderboard.Board.
func (s *Store) Change(ctx context.Context, g leaderboard.GuildRef, user id.User, c leaderboard.Change) (leaderboard.Outcome, error) {
	op, amount := "add", int64(c.Amount)
	switch c.Op {
	case leaderboard.Increment:
	case leaderboard.Decrement:
		amount = -amount
	case leaderboard.Set:
		op = "set"
	default:
		return leaderboard.Outcome{}, fmt.Errorf("redis: change: unknown operation %q", c.Op)
	}
	if err := checkXP(c.Amount); err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: change: %w", err)
	}
	r, err := s.change(ctx, changeScript, g, asked{once: c.Once, days: c.Days, curve: c.Curve, audit: c.Audit},
		string(user), op, amount, cooldownMillis(c.Cooldown))
	return outcomeOf(changeScript, r, err)
}

// outcomeOf reads the answer of a script that changes one member.
func outcomeOf(sc *redisconn.Script, r reply, err error) (out leaderboard.Outcome, failed error) {
	if err != nil {
		return out, err
	}
	before, after, count := r.of("before"), r.of("after"), r.of("count")
	recorded := r.of("replayed")
	if out.Replayed = recorded.there(); out.Replayed {
		words := recorded.words()
		before, after, count = words.at(0), words.at(1), words.at(2)
	}
	out.Before, out.After, out.MessageCount = level.XP(before.number()), level.XP(after.number()), count.number()
	return out, r.done(sc.Name())
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
