package redisstore

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

var deleteScript = newChangeScript("delete")

// Delete implements leaderboard.Board.
func (s *Store) Delete(ctx context.Context, g leaderboard.GuildRef, user id.User, r leaderboard.Removal) (replayed bool, err error) {
	out, err := s.changeOne(ctx, deleteScript, g, kept{r.Once, r.Days, r.Audit}, string(user))
	return out.Replayed, err
}
