package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"levelboard/internal/leaderboard"
	"levelboard/internal/level"
)

// maxOffers bounds the messages of one step, and with them what its script does.
const maxOffers = 10_000

var errAwards = errors.New("not the awards of one step")

// Award implements leaderboard.Board.
func (s *Store) Award(ctx context.Context, g leaderboard.GuildRef, a leaderboard.Awards) (got []leaderboard.Awarded, replayed bool, err error) {
	args, err := awardArgs(g, a)
	if err != nil {
		return nil, false, fmt.Errorf("redis: award: %w", err)
	}
	args = append(args, s.sieves.of(a.Curve))
	r, replayed, err := s.runOnce(ctx, awardScript, g, a.Once, args...)
	if err != nil {
		return nil, false, err
	}
	if !replayed {
		s.noteChanged(ctx, g.ID, r.at(1))
		text, _, err := r.text(0)
		if err != nil {
			return nil, false, fmt.Errorf("redis: award: %w", err)
		}
		r = words(text)
	}
	if got, err = awardedOf(r, a.Members); err != nil {
		return nil, false, fmt.Errorf("redis: award: %w", err)
	}
	return got, replayed, nil
}

func awardArgs(g leaderboard.GuildRef, a leaderboard.Awards) ([]any, error) {
	n := len(a.Members)
	if n < 1 || n > leaderboard.MaxAwards {
		return nil, fmt.Errorf("%w: %d members", errAwards, n)
	}
	// Rounded up, so that a positive cooldown never becomes none.
	cooldown := (max(a.Cooldown, 0) + time.Millisecond - 1).Milliseconds()
	args := make([]any, 4+2*n, 4+3*n+4)
	args[0], args[1], args[2], args[3] = int64(g.Incarnation), cooldown, n, 0
	offers := 0
	var text []byte
	for i, m := range a.Members {
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
		args[4+i], args[4+n+i] = string(m.User), string(text)
		if m.Data != nil {
			args[3] = 1
		}
	}
	if offers > maxOffers {
		return nil, fmt.Errorf("%w: %d messages", errAwards, offers)
	}
	if args[3] == 0 {
		return args, nil
	}
	for _, m := range a.Members {
		user := ""
		if m.Data != nil {
			var err error
			if user, err = encodeUser(*m.Data); err != nil {
				return nil, err
			}
		}
		args = append(args, user)
	}
	return args, nil
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
