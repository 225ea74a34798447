package redisstore

import (
	"context"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/usecase/leaderboard"
)

var hideScript = newChangeScript("hide", "loaded", "now", "request", "entry", "boards")

// CopyHidden implements hydrate.Live.
func (s *Store) CopyHidden(ctx context.Context, g leaderboard.GuildRef, part hidden.Part) (has int64, err error) {
	g.Hidden = 0 // this script is the one that raises it
	k := keysOf(g.ID)
	args := []any{int64(g.Incarnation), g.Hidden, "named", "", "", "", "", "", 0, part.After, part.Upto}
	for _, u := range part.Users {
		args = append(args, string(u.User), u.Flags.String(), u.Number)
	}
	r, err := s.run(ctx, hideScript, k.changes(g.Incarnation, "", true), args...)
	if err != nil {
		return 0, err
	}
	return r.of("hidden").number(), r.done("copy the flags of hidden users")
}
