package redisstore

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

var deleteScript = newChangeScript("delete", "loaded", "now", "request", "entry", "boards", "event", "note")

// Delete implements leaderboard.Board.
func (s *Store) Delete(ctx context.Context, g leaderboard.GuildRef, user id.User, r leaderboard.Removal) (replayed bool, err error) {
	answer, err := s.change(ctx, deleteScript, g, asked{once: r.Once, days: r.Days, audit: r.Audit}, string(user))
	out, err := outcomeOf(deleteScript, answer, err)
	return out.Replayed, err
}
