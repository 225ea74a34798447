package keeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"levelboard/internal/bot/chat"
)

// mostPasses is how often the board is read until no member changed places meanwhile.
const mostPasses = 5

// compareMembers compares all members with the board: who is present, who has which roles, who is to be hidden, who administers. Levelboard has the
// messages of an earlier run, so nobody comes back by one of those.
func (g *guild) compareMembers(ctx context.Context) error {
	g.update(func() { g.touched = map[string]*chat.Member{} })
	defer g.update(func() { g.touched = nil })
	levels, err := g.board(ctx)
	if err != nil {
		return err
	}
	flagged := map[string]bool{}
	err = g.eachHidden(ctx, func(u hiddenUser) {
		if u.Level != nil {
			levels[u.UserID] = *u.Level
		}
		flagged[u.UserID] = slices.Contains(u.By, byManager)
	})
	if err != nil {
		return err
	}
	list, err := g.k.chat.Members(ctx, g.id)
	if errors.Is(err, chat.ErrForbidden) {
		g.log.Error("Discord does not list the members: in the developer portal, under Bot, switch on the Server Members Intent")
		return nil
	}
	if errors.Is(err, chat.ErrUnknown) {
		return nil // the bot has left
	}
	if err != nil {
		return err
	}
	members := g.noteAll(list, levels, flagged)
	for userID, m := range members {
		want, err := g.rewardsAt(ctx, userID, levels)
		if err != nil {
			return err
		}
		if len(want.changes(m)) > 0 {
			g.noteRoles(userID)
		}
	}
	return g.announcePast(ctx)
}

// noteAll notes who is present or not, who is to be hidden or shown, and who administers, and returns the members who are people. Of those who came,
// changed or left while members were listed, the events know better.
func (g *guild) noteAll(list []chat.Member, levels map[string]int, flagged map[string]bool) map[string]chat.Member {
	facts, _ := g.k.chat.Guild(g.id)
	members := map[string]chat.Member{}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range list {
		members[m.ID] = m
	}
	for userID, now := range g.touched {
		if delete(members, userID); now != nil {
			members[userID] = *now
		}
	}
	maps.DeleteFunc(members, func(_ string, m chat.Member) bool { return m.Bot })
	g.admins, g.changed = map[string]bool{}, true
	for userID, m := range members {
		if _, onBoard := levels[userID]; !onBoard {
			g.present[userID] = true // one without an entry is not changed
		}
		g.noteStanding(facts, m)
		switch hidden, noted := g.hide[userID]; {
		case hidden && flagged[userID]:
			delete(g.hide, userID) // by a manager
		case !noted && g.state.Hidden[userID] && !flagged[userID]:
			g.hide[userID] = true // a kill came before the call, or a manager has lifted it
		}
	}
	for userID := range levels {
		if _, is := members[userID]; !is {
			g.present[userID] = false
		}
	}
	for userID := range g.state.Hidden {
		if _, is := members[userID]; !is {
			g.hide[userID] = false
		}
	}
	return members
}

// board returns the levels of all members on the board.
func (g *guild) board(ctx context.Context) (map[string]int, error) {
	levels := map[string]int{}
	for range mostPasses {
		moved, seen := false, map[string]bool{}
		for page, rows := 1, 100; rows == 100; page++ {
			var answer struct {
				Levels []struct {
					UserID string
					Level  int
				}
			}
			if err := g.get(ctx, fmt.Sprintf("/v2/levels/%s?page=%d", g.id, page), &answer); err != nil {
				return nil, err
			}
			for _, row := range answer.Levels {
				moved = moved || seen[row.UserID] // whoever overtook them may not have been seen
				seen[row.UserID], levels[row.UserID] = true, row.Level
			}
			rows = len(answer.Levels)
		}
		if !moved {
			break
		}
	}
	return levels, nil
}
