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
	r := newReply(c.Reply)
	return versionOf(r), r.done("version")
}

// versionOf reads the epoch and the rev of an answer.
func versionOf(r reply) leaderboard.Version {
	return leaderboard.Version{Epoch: r.of("epoch").number(), Rev: r.of("rev").number()}
}
