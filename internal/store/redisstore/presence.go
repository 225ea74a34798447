package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

var presenceScript = newChangeScript("presence", "loaded", "now", "request", "entry", "boards", "event", "note")

// SetPresence implements leaderboard.Board.
func (s *Store) SetPresence(ctx context.Context, g leaderboard.GuildRef, p leaderboard.Presence) (moved leaderboard.Moved, err error) {
	if len(p.Users) < 1 || len(p.Users) > leaderboard.MaxAwards {
		return moved, fmt.Errorf("redis: presence: %d members are no step", len(p.Users))
	}
	to := "away"
	if p.Present {
		to = "back"
	}
	args := []any{to}
	for _, user := range p.Users {
		args = append(args, string(user))
	}
	r, err := s.change(ctx, presenceScript, g, asked{days: p.Days, audit: p.Audit}, args...)
	if err != nil {
		return moved, err
	}
	moved.Changed = r.of("changed").number()
	for _, user := range r.of("missing").texts() {
		moved.Missing = append(moved.Missing, id.User(user))
	}
	return moved, r.done("presence")
}
