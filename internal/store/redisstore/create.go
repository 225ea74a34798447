package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

var createScript = newChangeScript("create", "loaded", "now", "request", "entry", "level", "event", "note")

// Create implements leaderboard.Board.
func (s *Store) Create(ctx context.Context, g leaderboard.GuildRef, user id.User, c leaderboard.Creation) (leaderboard.Outcome, error) {
	text, err := encodeUser(c.User)
	if err == nil {
		err = checkXP(c.XP)
	}
	if err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: create: %w", err)
	}
	r, err := s.change(ctx, createScript, g, asked{once: c.Once, days: c.Days, curve: c.Curve, audit: c.Audit}, string(user), int64(c.XP), text)
	return outcomeOf(createScript, r, err)
}
