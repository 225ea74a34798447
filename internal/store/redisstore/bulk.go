package redisstore

import (
	"context"
	"fmt"
	"strconv"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

var bulkScript = newChangeScript("bulk", changing...)

// bulkOwn counts the arguments of bulk.lua between those of request.lua and the members.
const bulkOwn = 2

// bulkWords counts the words about one member in the outcome of bulk.lua.
const bulkWords = 3

// bulkStates maps the first of these words.
var bulkStates = map[string]leaderboard.PutState{"c": leaderboard.Created, "h": leaderboard.Changed, "u": leaderboard.Unchanged}

// Put implements leaderboard.Board.
func (s *Store) Put(ctx context.Context, g leaderboard.GuildRef, p leaderboard.Puts) (done []leaderboard.Done, replayed bool, err error) {
	args, err := bulkArgs(p.Mode, p.Members)
	if err == nil {
		err = keepMade(p.Once, args[bulkOwn:], len(p.Members), func(int) int { return bulkWords })
	}
	if err != nil {
		return nil, false, fmt.Errorf("redis: bulk: %w", err)
	}
	outcome, replayed, err := s.changeMany(ctx, bulkScript, g, asked{once: p.Once, days: p.Days, curve: p.Curve, audit: p.Audit}, args)
	if err != nil {
		return nil, false, err
	}
	return doneOf(outcome, len(p.Members)), replayed, outcome.done("bulk")
}

func bulkArgs(mode leaderboard.PutMode, members []leaderboard.Put) (args []any, err error) {
	n := len(members)
	if n < 1 || n > leaderboard.MaxAwards {
		return nil, fmt.Errorf("%d members are no step", n)
	}
	args = make([]any, bulkOwn+4*n)
	args[0], args[1] = string(mode), n
	for i, m := range members {
		if err := checkXP(m.XP); err != nil {
			return nil, err
		}
		args[bulkOwn+i], args[bulkOwn+n+i], args[bulkOwn+2*n+i] = string(m.User), int64(m.XP), ""
		if m.Absent {
			args[bulkOwn+n+i] = "-" + strconv.FormatInt(int64(m.XP), 10)
		}
		if m.MessageCount != nil {
			args[bulkOwn+2*n+i] = *m.MessageCount
		}
		if args[bulkOwn+3*n+i], err = dataText(m.Data); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// doneOf reads the outcome of bulk.lua.
func doneOf(r reply, n int) []leaderboard.Done {
	r.sized(bulkWords * n)
	done := make([]leaderboard.Done, n)
	for i := range done {
		word, xp, count := r.at(bulkWords*i), r.at(bulkWords*i+1), r.at(bulkWords*i+2)
		state, ok := bulkStates[word.text()]
		if !ok {
			word.isNot("a state")
		}
		done[i] = leaderboard.Done{State: state, XP: level.XP(xp.number()), MessageCount: count.number()}
	}
	return done
}
