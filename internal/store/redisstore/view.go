package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/usecase/leaderboard"
)

var viewScript = newScript("view", "loaded", "values", "ranked")

// View implements leaderboard.Board.
func (s *Store) View(ctx context.Context, g leaderboard.GuildRef, look leaderboard.Look) (v leaderboard.View, err error) {
	if len(look.Users) > leaderboard.MaxViewUsers {
		return v, fmt.Errorf("redis: view: %d members are too many for one step", len(look.Users))
	}
	args := []any{int64(g.Incarnation), g.Hidden, "", "", leaderboard.PageSize, min(look.Page, leaderboard.MaxPage)}
	if known := look.Unless; known != nil {
		args[2], args[3] = known.Epoch, known.Rev
	}
	for _, user := range look.Users {
		args = append(args, string(user))
	}
	r, err := s.run(ctx, viewScript, keysOf(g.ID).board(), args...)
	if err != nil {
		return v, err
	}
	v = leaderboard.View{Version: versionOf(r), Total: r.of("total").number(), Unchanged: !r.of("members").there()}
	if v.Unchanged {
		return v, r.done("view")
	}
	if look.Page > 0 {
		v.Number = r.of("number").number()
		v.Rows = rowsOf(r, leaderboard.PageSize*(v.Number-1))
	}
	members := r.of("members").sized(len(look.Users))
	for i, user := range look.Users {
		if m, absent, there := rankedOf(members.at(i), user); there && !absent {
			v.Members = append(v.Members, m)
		}
	}
	return v, r.done("view")
}
