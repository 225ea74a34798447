package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

var awardScript = newChangeScript("award", changing...)

// awardOwn counts the arguments of award.lua between those of request.lua and the members.
const awardOwn = 2

// maxOffers bounds the messages of one step, and with them the work of its script.
const maxOffers = 10_000

var errAwards = errors.New("not the awards of one step")

// Award implements leaderboard.Board.
func (s *Store) Award(ctx context.Context, g leaderboard.GuildRef, a leaderboard.Awards) (got []leaderboard.Awarded, replayed bool, err error) {
	args, err := awardArgs(a)
	if err == nil {
		err = keepMade(a.Once, args[awardOwn:], len(a.Members), func(i int) int { return 2 + len(a.Members[i].Offers) })
	}
	if err != nil {
		return nil, false, fmt.Errorf("redis: award: %w", err)
	}
	outcome, replayed, err := s.changeMany(ctx, awardScript, g, asked{once: a.Once, days: a.Days, curve: a.Curve}, args)
	if err != nil {
		return nil, false, err
	}
	return awardedOf(outcome, a.Members), replayed, outcome.done("award")
}

// changeMany runs a script that changes many members and returns the words of its outcome; for a replay, those of the first run.
func (s *Store) changeMany(ctx context.Context, sc *redisconn.Script, g leaderboard.GuildRef, a asked, args []any) (outcome reply, replayed bool, err error) {
	r, err := s.change(ctx, sc, g, a, args...)
	if err != nil {
		return outcome, false, err
	}
	return r.at(1).words(), r.of("replayed").there(), nil
}

func awardArgs(a leaderboard.Awards) (args []any, err error) {
	n := len(a.Members)
	if n < 1 || n > leaderboard.MaxAwards {
		return nil, fmt.Errorf("%w: %d members", errAwards, n)
	}
	args = make([]any, awardOwn+4*n)
	args[0], args[1] = cooldownMillis(a.Cooldown), n
	offers := 0
	var text []byte
	for i, m := range a.Members {
		text = text[:0]
		for j, xp := range m.Offers {
			if err := checkXP(xp); err != nil && xp != leaderboard.Uncounted {
				return nil, err
			}
			if j > 0 {
				text = append(text, ' ')
			}
			text = strconv.AppendInt(text, int64(xp), 10)
		}
		offers += len(m.Offers)
		args[awardOwn+i], args[awardOwn+n+i], args[awardOwn+2*n+i] = string(m.User), string(text), string(m.Channel)
		if args[awardOwn+3*n+i], err = dataText(m.Data); err != nil {
			return nil, err
		}
	}
	if offers > maxOffers {
		return nil, fmt.Errorf("%w: %d messages", errAwards, offers)
	}
	return args, nil
}

// dataText returns a member's new user data for the script; "" leaves the stored data.
func dataText(u *leaderboard.User) (string, error) {
	if u == nil {
		return "", nil
	}
	return encodeUser(*u)
}

// keepMade lets a repeated script skip members whose change was not lost. args begin with the n members and their parts; the outcome has
// size(i) words for each.
func keepMade(once leaderboard.Once, args []any, n int, size func(i int) int) error {
	past := once.Past
	if past == nil || !past.Made || len(past.Lost) == 0 || past.Request != once.Request { // another request is refused later (pastOf)
		return nil
	}
	outcome := strings.Split(past.Outcome, " ")
	for i := range n {
		if size(i) > len(outcome) {
			return errReply
		}
		if user, _ := args[i].(string); !slices.Contains(past.Lost, id.User(user)) {
			args[n+i] = "=" + strings.Join(outcome[:size(i)], " ")
		}
		outcome = outcome[size(i):]
	}
	if len(outcome) > 0 {
		return errReply
	}
	return nil
}

// awardedOf reads the outcome of award.lua.
func awardedOf(r reply, members []leaderboard.Award) []leaderboard.Awarded {
	got, read := make([]leaderboard.Awarded, len(members)), 0
	next := func() int64 {
		read++
		return r.at(read - 1).number()
	}
	for i, m := range members {
		before, count := next(), next()
		gained := make([]level.XP, len(m.Offers))
		for j := range gained {
			gained[j] = level.XP(next())
		}
		got[i] = leaderboard.Awarded{Before: level.XP(max(before, 0)), Created: before < 0, MessageCount: count, Gained: gained}
	}
	r.sized(read)
	return got
}
