package keeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

const (
	mostAtOnce = 1000 // users that one call may name

	byManager = "manager" // the flags that hide a user
	bySelf    = "self"
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

// compareMembers compares all members with the board: their roles at once, and all of them are news for Levelboard. It has the messages of an
// earlier run, so nobody comes back by one of those.
func (g *guild) compareMembers(ctx context.Context) error {
	defer g.update(func() { g.listing = false })
	board, err := g.rows(ctx, "/v2/levels/"+g.id)
	if err != nil {
		return err
	}
	hidden, err := g.hiddenRows(ctx)
	if err != nil {
		return err
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
	levels, members := map[string]*int{}, map[string]*chat.Member{} // nil for who has no entry, and for who has left
	for _, r := range append(board, hidden...) {
		levels[r.UserID], members[r.UserID] = r.Level, nil
	}
	for _, m := range list {
		if m.Bot {
			continue
		}
		members[m.ID] = &m
		wrong, err := g.wrongRoles(ctx, m, levels[m.ID])
		if err != nil {
			return err
		}
		if len(wrong) > 0 {
			g.noteRoles(m.ID)
		}
	}
	g.update(func() {
		maps.Copy(members, g.news) // which came meanwhile
		g.admins, g.changed = map[string]bool{}, true
		for userID, m := range members {
			g.note(userID, m)
		}
	})
	return nil
}

// sendMembers sends who is present and who is hidden, and forgets the news.
func (g *guild) sendMembers(ctx context.Context, news map[string]*chat.Member) error {
	lists := map[bool][]string{}
	for userID, m := range news {
		lists[m != nil] = append(lists[m != nil], userID)
	}
	for present, all := range lists {
		for some := range slices.Chunk(all, mostAtOnce) {
			if err := g.put(ctx, "/presence", object{"present": present, "userIds": some}); err != nil {
				return err
			}
		}
	}
	if err := g.hideMembers(ctx, news); err != nil {
		return err
	}
	clear(news)
	return nil
}

// hideMembers hides and shows whom their roles say. The bot notes whom it hides before it does, so that it lifts each flag that it set. A flag that
// is there already is a manager's, or it is noted.
func (g *guild) hideMembers(ctx context.Context, news map[string]*chat.Member) error {
	wanted := map[string]bool{}
	g.update(func() {
		for userID, m := range news {
			if hidden := hasOne(m, g.hideRoles); hidden || g.state.Hidden[userID] {
				wanted[userID] = hidden
			}
		}
	})
	if len(wanted) == 0 {
		return nil
	}
	rows, err := g.hiddenRows(ctx)
	if err != nil {
		return err
	}
	flagged := map[string]bool{}
	for _, r := range rows {
		flagged[r.UserID] = slices.Contains(r.By, byManager)
	}
	for userID, hidden := range wanted {
		if hidden && !flagged[userID] {
			g.save(func(s *state) { s.Hidden[userID] = true })
		}
		if hidden != flagged[userID] {
			if err := g.setHidden(ctx, userID, byManager, hidden, ""); err != nil {
				return err
			}
		}
		if !hidden {
			g.save(func(s *state) { delete(s.Hidden, userID) })
		}
	}
	return nil
}

func (g *guild) setHidden(ctx context.Context, userID, by string, hidden bool, reason string) error {
	return g.call(ctx, api.Request{
		Method: http.MethodPut, Path: "/v2/guilds/" + g.id + "/hidden", Reason: reason,
		Body: object{"hidden": hidden, "by": by, "userIds": []string{userID}},
	}, nil)
}
