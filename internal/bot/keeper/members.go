package keeper

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"levelboard/internal/bot/chat"
)

// row is a member on a board or in the list of the hidden.
type row struct {
	UserID string
	Level  *int     // nil without an entry
	By     []string // whose flags hide the member
}

// rows reads all pages of a list. Who moves between two pages meanwhile may be missing.
func (g *guild) rows(ctx context.Context, path string) (all []row, err error) {
	for page, full := 1, true; full; page++ {
		var answer struct{ Levels, Hidden []row }
		if err := g.get(ctx, fmt.Sprintf("%s?page=%d", path, page), &answer); err != nil {
			return nil, err
		}
		all = append(append(all, answer.Levels...), answer.Hidden...)
		full = len(answer.Levels)+len(answer.Hidden) == 100
	}
	return all, nil
}

func (g *guild) hiddenRows(ctx context.Context) ([]row, error) {
	return g.rows(ctx, "/v2/guilds/"+g.id+"/hidden")
}

// compareMembers compares all members with the board: who is present, who has which roles, who is to be hidden, who administers. Levelboard has the
// messages of an earlier run, so nobody comes back by one of those.
func (g *guild) compareMembers(ctx context.Context) error {
	g.update(func() { g.touched = map[string]*chat.Member{} })
	defer g.update(func() { g.touched = nil })
	board, err := g.rows(ctx, "/v2/levels/"+g.id)
	if err != nil {
		return err
	}
	hidden, err := g.hiddenRows(ctx)
	if err != nil {
		return err
	}
	levels := map[string]int{}
	for _, r := range append(board, hidden...) {
		if r.Level != nil {
			levels[r.UserID] = *r.Level
		}
	}
	list, err := g.k.Chat.Members(ctx, g.id)
	switch {
	case errors.Is(err, chat.ErrForbidden):
		g.log.Error("Discord does not list the members: in the developer portal, under Bot, switch on the Server Members Intent")
		return nil
	case errors.Is(err, chat.ErrUnknown): // the bot has left
		return nil
	case err != nil:
		return err
	}
	for userID, m := range g.noteAll(list, levels) {
		want, err := g.rewardsAt(ctx, userID, levels)
		if err != nil {
			return err
		}
		if len(want.changes(m)) > 0 {
			g.noteRoles(userID)
		}
	}
	return nil
}

// noteAll notes who is present or not, who is to be hidden or shown, and who administers, and returns the members who are people. Of those who came,
// changed or left while members were listed, the events know better.
func (g *guild) noteAll(list []chat.Member, levels map[string]int) map[string]chat.Member {
	g.mu.Lock()
	defer g.mu.Unlock()
	members := map[string]chat.Member{}
	for _, m := range list {
		members[m.ID] = m
	}
	for userID, now := range g.touched {
		if delete(members, userID); now != nil {
			members[userID] = *now
		}
	}
	maps.DeleteFunc(members, func(_ string, m chat.Member) bool { return m.Bot })
	g.touched, g.admins, g.changed = nil, map[string]bool{}, true
	for userID, m := range members {
		if _, onBoard := levels[userID]; !onBoard {
			g.present[userID] = true // one without an entry is not changed
		}
		g.noteMember(userID, &m)
	}
	for userID := range levels {
		if _, is := members[userID]; !is {
			g.present[userID] = false
		}
	}
	for userID := range g.state.Hidden {
		if _, is := members[userID]; !is {
			g.hide[userID] = false
		} else if _, noted := g.hide[userID]; !noted {
			g.hide[userID] = true // a kill came before the call, or a manager has lifted it
		}
	}
	return members
}
