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

// awardOwn is how many of its own arguments come before the members.
const awardOwn = 3

// maxOffers bounds the messages of one step, and with them the work of its script.
const maxOffers = 10_000

var errAwards = errors.New("not the awards of one step")

// Award implements leaderboard.Board.
func (s *Store) Award(ctx context.Context, g leaderboard.GuildRef, a leaderboard.Awards) (got []leaderboard.Awarded, replayed bool, err error) {
	members, places, told := dataFirst(a.Members, awardData)
	args, err := awardArgs(a, members, told)
	if err == nil {
		err = keepMade(a.Once, args[awardOwn:], len(members), func(i int) int { return 2 + len(members[i].Offers) })
	}
	if err != nil {
		return nil, false, fmt.Errorf("redis: award: %w", err)
	}
	outcome, replayed, err := s.changeMany(ctx, awardScript, g, asked{once: a.Once, days: a.Days, curve: a.Curve}, args)
	if err != nil {
		return nil, false, err
	}
	return inPlaces(awardedOf(outcome, members), places), replayed, outcome.done("award")
}

// changeMany runs a script that changes many members and returns the words of its outcome, of the first time if it was replayed.
func (s *Store) changeMany(ctx context.Context, sc *redisconn.Script, g leaderboard.GuildRef, a asked, args []any) (outcome reply, replayed bool, err error) {
	r, err := s.change(ctx, sc, g, a, args...)
	if err != nil {
		return outcome, false, err
	}
	return r.at(1).words(), r.of("replayed").there(), nil
}

// dataFirst returns the members with the told ones of them that bring user data first, and for each its place before: the
// script then looks at the stored user data of no others. The same members come in the same order each time.
func dataFirst[T any](all []T, data func(*T) *leaderboard.User) (members []T, places []int, told int) {
	members, places = make([]T, 0, len(all)), make([]int, 0, len(all))
	for _, withData := range []bool{true, false} {
		for i := range all {
			if (data(&all[i]) != nil) == withData {
				members, places = append(members, all[i]), append(places, i)
			}
		}
		if withData {
			told = len(members)
		}
	}
	return members, places, told
}

// inPlaces returns the members' answers in the order that dataFirst was given.
func inPlaces[T any](answered []T, places []int) []T {
	got := make([]T, len(answered))
	for i, place := range places {
		got[place] = answered[i]
	}
	return got
}

func awardArgs(a leaderboard.Awards, members []leaderboard.Award, told int) ([]any, error) {
	n := len(members)
	if n < 1 || n > leaderboard.MaxAwards {
		return nil, fmt.Errorf("%w: %d members", errAwards, n)
	}
	args := make([]any, awardOwn+3*n, awardOwn+3*n+told)
	args[0], args[1], args[2] = cooldownMillis(a.Cooldown), n, told
	offers := 0
	var text []byte
	for i, m := range members {
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
	}
	if offers > maxOffers {
		return nil, fmt.Errorf("%w: %d messages", errAwards, offers)
	}
	return appendData(args, members[:told], awardData)
}

func awardData(m *leaderboard.Award) *leaderboard.User { return m.Data }

// appendData appends the user data that the told members bring.
func appendData[T any](args []any, told []T, data func(*T) *leaderboard.User) ([]any, error) {
	for i := range told {
		user, err := encodeUser(*data(&told[i]))
		if err != nil {
			return nil, err
		}
		args = append(args, user)
	}
	return args, nil
}

// keepMade lets the script skip members that were already changed, when the live store lost only the changes of the others. args begin with the n
// members and their parts; the outcome has size(i) words of each.
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
