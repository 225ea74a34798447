package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

var presenceScript = newChangeScript("presence")

// SetPresence implements leaderboard.Board.
func (s *Store) SetPresence(ctx context.Context, g leaderboard.GuildRef, p leaderboard.Presence) (moved leaderboard.Moved, err error) {
	if len(p.Users) < 1 || len(p.Users) > leaderboard.MaxAwards {
		return moved, fmt.Errorf("redis: presence: %d members are no step", len(p.Users))
	}
	args := make([]any, 1+len(p.Users))
	if args[0] = 0; p.Present {
		args[0] = 1
	}
	for i, user := range p.Users {
		args[1+i] = string(user)
	}
	c, _, err := s.runOnce(ctx, presenceScript, g, kept{days: p.Days, audit: p.Audit}, args...)
	if err != nil {
		return moved, known(err)
	}
	r := reply(c.Reply)
	if moved.Changed, err = r.number(0); err != nil {
		return moved, fmt.Errorf("redis: presence: %w", err)
	}
	for i := 1; i < len(r); i++ {
		user, _ := r.at(i).(string)
		moved.Missing = append(moved.Missing, id.User(user))
	}
	return moved, nil
}
