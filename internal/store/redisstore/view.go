package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/usecase/leaderboard"
)

var viewScript = newScript("view", "loaded", "values", "ranked")

// View implements leaderboard.Board.
func (s *Store) View(ctx context.Context, g leaderboard.GuildRef, look leaderboard.Look) (leaderboard.View, error) {
	args, err := viewArgs(g, look)
	if err != nil {
		return leaderboard.View{}, fmt.Errorf("redis: view: %w", err)
	}
	r, err := s.run(ctx, viewScript, keysOf(g.ID).board(), args...)
	if err != nil {
		return leaderboard.View{}, err
	}
	return viewOf(r, look), r.done("view")
}

func viewArgs(g leaderboard.GuildRef, look leaderboard.Look) ([]any, error) {
	if len(look.Pages) > leaderboard.MaxViewPages || len(look.Users) > leaderboard.MaxViewUsers {
		return nil, fmt.Errorf("%d pages and %d members are too many for one step", len(look.Pages), len(look.Users))
	}
	args := make([]any, 0, 6+len(look.Pages)+len(look.Users))
	args = append(args, int64(g.Incarnation), g.Hidden)
	if known := look.Unless; known != nil {
		args = append(args, known.Epoch, known.Rev)
	} else {
		args = append(args, "", "")
	}
	args = append(args, leaderboard.PageSize, len(look.Pages))
	for _, number := range look.Pages {
		if number < 1 {
			return nil, fmt.Errorf("%d is not the number of a page", number)
		}
		args = append(args, min(number, leaderboard.MaxPage))
	}
	for _, user := range look.Users {
		args = append(args, string(user))
	}
	return args, nil
}

func viewOf(r reply, look leaderboard.Look) leaderboard.View {
	v := leaderboard.View{Version: versionOf(r), Total: r.of("total").number(), Unchanged: !r.of("pages").there()}
	if v.Unchanged {
		return v
	}
	pages, members := r.of("pages").sized(len(look.Pages)), r.of("members").sized(len(look.Users))
	v.Pages = make([]leaderboard.NumberedPage, len(look.Pages))
	for i := range v.Pages {
		number := pages.at(i).of("number").number()
		v.Pages[i] = leaderboard.NumberedPage{Number: number, Rows: rowsOf(pages.at(i), leaderboard.PageSize*(number-1))}
	}
	for i, user := range look.Users {
		if m, absent, there := rankedOf(members.at(i), user); there && !absent {
			v.Members = append(v.Members, m)
		}
	}
	return v
}
