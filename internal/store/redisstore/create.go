package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

var createScript = newChangeScript("create")

// Create implements leaderboard.Board.
func (s *Store) Create(ctx context.Context, g leaderboard.GuildRef, user id.User, c leaderboard.Creation) (leaderboard.Outcome, error) {
	text, err := encodeUser(c.User)
	if err == nil {
		err = checkXP(c.XP)
	}
	if err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: create: %w", err)
	}
	return s.changeOne(ctx, createScript, g, kept{c.Once, c.Days, c.Audit}, s.sieves.of(c.Curve), string(user), int64(c.XP), text)
}
