package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

var (
	beginCountScript = newScript("begin_count", "loaded", "settle")
	countScript      = newScript("count", "loaded", "values", "entries", "absent", "settle")
	endCountScript   = newScript("end_count", "loaded", "settle")
)

// BeginCount implements leaderboard.Counting.
func (s *Store) BeginCount(ctx context.Context, g leaderboard.GuildRef, p period.Period) (needed bool, err error) {
	k := keysOf(g.ID)
	r, err := s.run(ctx, beginCountScript, append([]string{k.meta()}, k.gains()...), int64(g.Incarnation), placeOf(p.Kind), p.Range())
	if err != nil {
		return false, err
	}
	n, err := r.number(0)
	return n == 1, wrap("begin count", err)
}

// UnsavedUsers implements leaderboard.Counting.
func (s *Store) UnsavedUsers(ctx context.Context, g leaderboard.GuildRef, each func([]id.User) error) error {
	return s.eachMember(ctx, s.client.ZScan, keysOf(g.ID).dirty(), each)
}

// CountMembers implements leaderboard.Counting.
func (s *Store) CountMembers(ctx context.Context, g leaderboard.GuildRef, p period.Period, sums []leaderboard.Sum) (others []leaderboard.Sum, err error) {
	if len(sums) == 0 || len(sums) > leaderboard.MaxCounted {
		return nil, fmt.Errorf("redis: count: %d members are no step", len(sums))
	}
	args := make([]any, 5+3*len(sums))
	args[0], args[1], args[2], args[3], args[4] = int64(g.Incarnation), placeOf(p.Kind), p.Range(), int64(p.First), int64(p.End)
	for i, sum := range sums {
		args[5+i], args[5+len(sums)+i], args[5+2*len(sums)+i] = string(sum.User), withoutText(sum), sum.Gained
	}
	k := keysOf(g.ID)
	r, err := s.run(ctx, countScript, append(k.board(), k.gains()...), args...)
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(r); i += 2 {
		user, _, err := r.text(i)
		if err != nil {
			return nil, wrap("count", err)
		}
		text, _, err := r.text(i + 1)
		if err != nil {
			return nil, wrap("count", err)
		}
		other, err := sumOf(user, text)
		if err != nil {
			return nil, wrap("count", err)
		}
		others = append(others, other)
	}
	return others, nil
}

// withoutText is the list of days as count.lua compares it with an entry's.
func withoutText(s leaderboard.Sum) string {
	if !s.Known {
		return "?"
	}
	var text []byte
	if s.Fresh {
		text = append(text, '!')
	}
	for i, d := range s.Without {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(d), 10)
	}
	return string(text)
}

func sumOf(user, text string) (s leaderboard.Sum, err error) {
	s = leaderboard.Sum{User: id.User(user), Known: true}
	text, s.Fresh = strings.CutPrefix(text, "!")
	if text == "" {
		return s, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		day, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return s, fmt.Errorf("%w: a day of an entry: %w", errReply, err)
		}
		s.Without = append(s.Without, period.Day(day))
	}
	return s, nil
}

// EndCount implements leaderboard.Counting.
func (s *Store) EndCount(ctx context.Context, g leaderboard.GuildRef, p period.Period) error {
	_, err := s.run(ctx, endCountScript, []string{keysOf(g.ID).meta()}, int64(g.Incarnation), placeOf(p.Kind), p.Range())
	return err
}
