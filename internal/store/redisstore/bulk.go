package redisstore

import (
	"context"
	"fmt"
	"strconv"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

var bulkScript = newChangeScript("bulk", changing...)

// bulkOwn is how many of its own arguments come before the members.
const bulkOwn = 3

// bulkWords is how many words of its outcome are about a member.
const bulkWords = 3

// bulkStates are the first of them.
var bulkStates = map[string]leaderboard.PutState{"c": leaderboard.Created, "h": leaderboard.Changed, "u": leaderboard.Unchanged}

// Put implements leaderboard.Board.
func (s *Store) Put(ctx context.Context, g leaderboard.GuildRef, p leaderboard.Puts) (done []leaderboard.Done, replayed bool, err error) {
	members, places, told := dataFirst(p.Members, putData)
	args, err := bulkArgs(p.Mode, members, told)
	if err == nil {
		err = keepMade(p.Once, args[bulkOwn:], len(members), func(int) int { return bulkWords })
	}
	if err != nil {
		return nil, false, fmt.Errorf("redis: bulk: %w", err)
	}
	outcome, replayed, err := s.changeMany(ctx, bulkScript, g, asked{once: p.Once, days: p.Days, curve: p.Curve, audit: p.Audit}, args)
	if err != nil {
		return nil, false, err
	}
	return inPlaces(doneOf(outcome, len(members)), places), replayed, outcome.done("bulk")
}

func bulkArgs(mode leaderboard.PutMode, members []leaderboard.Put, told int) ([]any, error) {
	n := len(members)
	if n < 1 || n > leaderboard.MaxAwards {
		return nil, fmt.Errorf("%d members are no step", n)
	}
	args := make([]any, bulkOwn+3*n, bulkOwn+3*n+told)
	args[0], args[1], args[2] = string(mode), n, told
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
	}
	return appendData(args, members[:told], putData)
}

func putData(m *leaderboard.Put) *leaderboard.User { return m.Data }

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
