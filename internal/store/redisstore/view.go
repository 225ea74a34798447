package redisstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"levelboard/internal/domain/id"
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
	v, err := viewOf(r, look)
	return v, wrap("view", err)
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

func viewOf(r reply, look leaderboard.Look) (v leaderboard.View, err error) {
	if err := cmp.Or(versionOf(r, &v.Version), r.named(named{"total", &v.Total})); err != nil {
		return v, err
	}
	if r.of("pages") < 0 {
		v.Unchanged = true
		return v, nil
	}
	pages, err := r.list(r.of("pages"), len(look.Pages))
	if err != nil {
		return v, err
	}
	v.Pages = make([]leaderboard.NumberedPage, len(pages))
	for i := range pages {
		if v.Pages[i], err = numberedPageOf(pages, i); err != nil {
			return v, err
		}
	}
	members, err := r.list(r.of("members"), len(look.Users))
	if err == nil {
		v.Members, err = rankedOf(members, look.Users)
	}
	return v, err
}

func numberedPageOf(pages reply, i int) (p leaderboard.NumberedPage, err error) {
	r, err := pages.list(i, -1)
	if err == nil {
		err = r.named(named{"number", &p.Number})
	}
	if err == nil {
		p.Rows, err = rowsOf(r, leaderboard.PageSize*(p.Number-1))
	}
	return p, err
}

// rankedOf reads the members among the users; users without an entry are left out.
func rankedOf(r reply, users []id.User) (found []leaderboard.Ranked, err error) {
	for i, user := range users {
		row, err := r.list(i, -1)
		if err != nil {
			return nil, err
		}
		m, err := memberOf(row, user)
		if errors.Is(err, leaderboard.ErrNoMember) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	return found, nil
}
