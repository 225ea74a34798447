package keeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

// mostPasses is how often the board is read until no member changed places meanwhile.
const mostPasses = 5

// reconcile compares all members with the board: who is present, who has which roles, who is to be hidden, who administers. The queue is empty, so
// the board has every message.
func (g *guild) reconcile(ctx context.Context) error {
	g.roles.forgetRewards()
	levels, err := g.board(ctx)
	if err != nil {
		return err
	}
	flagged, err := g.hiddenUsers(ctx, levels)
	if err != nil {
		return err
	}
	g.update(func() { g.touched = map[string]bool{} })
	defer g.update(func() { g.touched = nil })
	members, err := g.k.chat.Members(ctx, g.id)
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
	facts, _ := g.k.chat.Guild(g.id)
	g.compareMembers(facts, members, levels, flagged)
	for _, m := range members {
		if m.Bot {
			continue
		}
		level, ok := levels[m.ID]
		if !ok {
			level = noEntry
		}
		want, err := g.rewardsAt(ctx, level)
		if err != nil {
			return err
		}
		if want.wrong(m) {
			g.noteRoles(m.ID, &m)
		}
	}
	return g.announcePast(ctx)
}

// compareMembers queues who is present or not, and notes who is to be hidden or shown, and who administers. Of those who came or left
// while members were listed, the events know better.
func (g *guild) compareMembers(facts chat.Guild, members []chat.Member, levels map[string]int, flagged map[string]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gone, shown := maps.Clone(levels), maps.Clone(g.state.Hidden)
	admins := map[string]bool{}
	for _, m := range members {
		delete(gone, m.ID)
		delete(shown, m.ID)
		if m.Bot || g.touched[m.ID] {
			continue
		}
		if _, ok := levels[m.ID]; !ok {
			g.queuePresence(kindPresent, m.ID) // one without an entry is not changed
		}
		admin, hidden := g.standing(facts, m)
		if admin {
			admins[m.ID] = true
		}
		if hidden != g.state.Hidden[m.ID] && !(hidden && flagged[m.ID]) {
			g.hide[m.ID] = hidden
		}
	}
	for userID := range gone {
		if !g.touched[userID] {
			g.queuePresence(kindAbsent, userID)
		}
	}
	for userID := range shown { // they left while the bot was away
		if !g.touched[userID] {
			g.hide[userID] = false
		}
	}
	for userID := range g.touched {
		if g.admins[userID] {
			admins[userID] = true
		}
	}
	g.admins, g.listed, g.changed = admins, true, true
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
			path := fmt.Sprintf("/v2/levels/%s?page=%d", g.id, page)
			if err := g.call(ctx, api.Request{Method: http.MethodGet, Path: path}, &answer); err != nil {
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

// hiddenUsers adds the levels of hidden members to those of the board, and returns whom a manager's flag hides.
func (g *guild) hiddenUsers(ctx context.Context, levels map[string]int) (flagged map[string]bool, err error) {
	flagged = map[string]bool{}
	err = g.eachHidden(ctx, func(u hiddenUser) {
		if u.Level != nil {
			levels[u.UserID] = *u.Level
		}
		for _, by := range u.By {
			flagged[u.UserID] = flagged[u.UserID] || by == byManager
		}
	})
	return flagged, err
}
