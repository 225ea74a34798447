package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

var awardScript = newChangeScript("award")

// awardOwn is how many of its own arguments come before the members.
const awardOwn = 4

// maxOffers bounds the messages of one step, and with them what its script does.
const maxOffers = 10_000

var errAwards = errors.New("not the awards of one step")

// Award implements leaderboard.Board.
func (s *Store) Award(ctx context.Context, g leaderboard.GuildRef, a leaderboard.Awards) (got []leaderboard.Awarded, replayed bool, err error) {
	members, places, told := dataFirst(a.Members)
	args, err := awardArgs(s.sieves.of(a.Curve), a, members, told)
	if err == nil {
		err = keepMade(a.Once.Past, members, args)
	}
	if err != nil {
		return nil, false, fmt.Errorf("redis: award: %w", err)
	}
	c, recorded, err := s.runOnce(ctx, awardScript, g, a.Once, a.Days, args...)
	if recorded == nil && (err == nil || errors.Is(err, redisconn.ErrNotReplicated)) {
		s.noteChanged(ctx, c)
	}
	if err != nil {
		return nil, false, known(err)
	}
	r := recorded
	if r == nil {
		text, _, err := reply(c.Reply).text(1)
		if err != nil {
			return nil, false, fmt.Errorf("redis: award: %w", err)
		}
		r = words(text)
	}
	answered, err := awardedOf(r, members)
	if err != nil {
		return nil, false, fmt.Errorf("redis: award: %w", err)
	}
	got = make([]leaderboard.Awarded, len(answered))
	for i, place := range places {
		got[place] = answered[i]
	}
	return got, recorded != nil, nil
}

// dataFirst returns the members with the told ones of them that bring user data first, and for each its place before: the
// script then looks at the stored user data of no others. The same members come in the same order each time.
func dataFirst(all []leaderboard.Award) (members []leaderboard.Award, places []int, told int) {
	members, places = make([]leaderboard.Award, 0, len(all)), make([]int, 0, len(all))
	for _, withData := range []bool{true, false} {
		for i := range all {
			if (all[i].Data != nil) == withData {
				members, places = append(members, all[i]), append(places, i)
			}
		}
		if withData {
			told = len(members)
		}
	}
	return members, places, told
}

func awardArgs(sieve any, a leaderboard.Awards, members []leaderboard.Award, told int) ([]any, error) {
	n := len(members)
	if n < 1 || n > leaderboard.MaxAwards {
		return nil, fmt.Errorf("%w: %d members", errAwards, n)
	}
	args := make([]any, awardOwn+2*n, awardOwn+2*n+told+4)
	args[0], args[1], args[2], args[3] = sieve, cooldownMillis(a.Cooldown), n, told
	offers := 0
	var text []byte
	for i, m := range members {
		text = text[:0]
		for j, xp := range m.Offers {
			if err := checkXP(xp); err != nil {
				return nil, err
			}
			if j > 0 {
				text = append(text, ' ')
			}
			text = strconv.AppendInt(text, int64(xp), 10)
		}
		offers += len(m.Offers)
		args[awardOwn+i], args[awardOwn+n+i] = string(m.User), string(text)
	}
	if offers > maxOffers {
		return nil, fmt.Errorf("%w: %d messages", errAwards, offers)
	}
	for _, m := range members[:told] {
		user, err := encodeUser(*m.Data)
		if err != nil {
			return nil, err
		}
		args = append(args, user)
	}
	return args, nil
}

// keepMade has the script leave those members alone who have their awards already, when the live store lost those of the others.
func keepMade(past *leaderboard.Past, members []leaderboard.Award, args []any) error {
	if past == nil || !past.Made || len(past.Lost) == 0 {
		return nil
	}
	if _, err := awardedOf(words(past.Outcome), members); err != nil {
		return err
	}
	outcome := strings.Split(past.Outcome, " ")
	for i, m := range members {
		size := 2 + len(m.Offers)
		if !slices.Contains(past.Lost, m.User) {
			args[awardOwn+len(members)+i] = "=" + strings.Join(outcome[:size], " ")
		}
		outcome = outcome[size:]
	}
	return nil
}

// awardedOf reads the outcome of award.lua.
func awardedOf(r reply, members []leaderboard.Award) ([]leaderboard.Awarded, error) {
	got := make([]leaderboard.Awarded, len(members))
	at := 0
	for i, m := range members {
		var before, count int64
		if at > len(r) {
			return nil, errReply
		}
		if err := r[at:].numbers(&before, &count); err != nil {
			return nil, err
		}
		at += 2
		gained := make([]level.XP, len(m.Offers))
		for j := range gained {
			xp, err := r.number(at)
			if err != nil {
				return nil, err
			}
			gained[j] = level.XP(xp)
			at++
		}
		got[i] = leaderboard.Awarded{Before: level.XP(before), MessageCount: count, Gained: gained}
	}
	if at != len(r) {
		return nil, fmt.Errorf("%w: an outcome of %d words, want %d", errReply, len(r), at)
	}
	return got, nil
}
