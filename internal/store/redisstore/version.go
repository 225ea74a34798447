package redisstore

import (
	"context"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

var versionScript = newScript("version", "loaded")

// Version implements leaderboard.Board.
func (s *Store) Version(ctx context.Context, g leaderboard.GuildRef) (v leaderboard.Version, err error) {
	c := redisconn.Call{Script: versionScript, Keys: []string{keysOf(g.ID).meta()}, Args: []any{int64(g.Incarnation), g.Hidden}}
	if err := s.client.Share(ctx, &c); err != nil {
		return v, known(err)
	}
	return v, wrap("version", versionOf(c.Reply, &v))
}

// versionOf reads the epoch and the rev of an answer.
func versionOf(r reply, v *leaderboard.Version) error {
	return r.named(named{"epoch", &v.Epoch}, named{"rev", &v.Rev})
}
