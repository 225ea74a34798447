package redisstore

import (
	"context"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

var versionScript = newScript("version", "loaded")

// Version implements leaderboard.Board.
func (s *Store) Version(ctx context.Context, g leaderboard.GuildRef) (v leaderboard.Version, err error) {
	c := redisconn.Call{Script: versionScript, Keys: []string{keysOf(g.ID).meta()}, Args: []any{int64(g.Incarnation)}}
	if err := s.client.Share(ctx, &c); err != nil {
		return v, known(err)
	}
	return v, wrap("version", reply(c.Reply).numbers(&v.Epoch, &v.Rev))
}
