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

// changing are the functions of the scripts that change members.
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
	var before, after int64
	if recorded, replayed, err := replayedOf(r); replayed || err != nil {
		if err == nil {
			err = recorded.numbers(&before, &after, &out.MessageCount)
		}
		out.Before, out.After, out.Replayed = level.XP(before), level.XP(after), true
		return out, wrap(sc.Name(), err)
	}
	err = r.named(named{"before", &before}, named{"after", &after}, named{"count", &out.MessageCount})
	out.Before, out.After = level.XP(before), level.XP(after)
	return out, wrap(sc.Name(), err)
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
