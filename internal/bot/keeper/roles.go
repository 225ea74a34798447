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
	"levelboard/internal/platform/pause"
)

// noteRoles notes that a member's roles may be wrong. They follow from the level at the time of the change, so the order of answers and events does
// not matter.
func (g *guild) noteRoles(userID string) {
	g.update(func() { g.roles[userID] = true })
}

// alignRoles makes the members' roles right until ctx ends, and compares all members when something was missed.
func (g *guild) alignRoles(ctx context.Context) {
	for wait := g.k.Tick; pause.For(ctx, wait); {
		wait = g.k.Tick
		var compare bool
		g.update(func() { compare, g.behind, g.listing = g.behind, false, g.behind })
		var err error
		if compare {
			if err = g.compareMembers(ctx); err != nil {
				g.catchUp()
			}
		}
		if err = errors.Join(err, g.fixRoles(ctx)); err != nil && ctx.Err() == nil {
			roleResults.WithLabelValues("failed").Inc()
			wait = retryTicks * g.k.Tick
			g.log.Warn("members and their roles could not be made right; the bot tries again", "error", err)
		}
	}
}

// fixRoles gives and takes the roles of all members who were noted. Those who could not be done are noted again.
func (g *guild) fixRoles(ctx context.Context) error {
	var noted map[string]bool
	g.update(func() { noted, g.roles = g.roles, map[string]bool{} })
	defer g.update(func() { maps.Copy(g.roles, noted) })
	for userID := range noted {
		if err := g.fixMember(ctx, userID); err != nil {
			return err
		}
		delete(noted, userID)
	}
	return nil
}

func (g *guild) fixMember(ctx context.Context, userID string) error {
	m, err := g.k.Chat.Member(ctx, g.id, userID)
	if errors.Is(err, chat.ErrUnknown) || err == nil && m.Bot {
		return nil
	}
	if err != nil {
		return err
	}
	entry, err := g.member(ctx, userID)
	level := &entry.Level
	if api.Status(err) == http.StatusNotFound {
		level, err = nil, nil
	}
	if err != nil {
		return err
	}
	wrong, err := g.wrongRoles(ctx, m, level)
	for role, given := range wrong {
		err := g.k.Chat.SetRole(ctx, g.id, userID, role, given)
		switch {
		case err == nil:
			roleResults.WithLabelValues("done").Inc()
		case errors.Is(err, chat.ErrForbidden):
			roleResults.WithLabelValues("forbidden").Inc()
			g.log.Warn("the bot may not give or take this role: in Discord's Server Settings, under Roles, move the bot's role above it and allow the bot to Manage Roles",
				"role", role, "user", userID)
		case errors.Is(err, chat.ErrUnknown): // the member has left, or the role was deleted
		default:
			return err
		}
	}
	return err
}

// wrongRoles returns the roles that a member of a level must be given (true), and those that must be taken away (false). Without an entry (nil)
// there is no reward. Rewards are as of the last reset of the settings.
func (g *guild) wrongRoles(ctx context.Context, m chat.Member, level *int) (map[string]bool, error) {
	at := -1
	if level != nil {
		at = *level
	}
	var wrong map[string]bool
	if g.update(func() { wrong = maps.Clone(g.rewards[at]) }); wrong == nil {
		var all struct{ AddRoles, RemoveRoles []string }
		if err := g.get(ctx, fmt.Sprintf("/v2/guilds/%s/role-rewards/level?level=%d&userId=%s", g.id, max(0, at), m.ID), &all); err != nil {
			return nil, err
		}
		wrong = map[string]bool{}
		for _, role := range all.RemoveRoles {
			wrong[role] = false
		}
		for _, role := range all.AddRoles {
			wrong[role] = level != nil
		}
		g.update(func() { g.rewards[at] = maps.Clone(wrong) })
	}
	maps.DeleteFunc(wrong, func(role string, has bool) bool { return slices.Contains(m.Roles, role) == has })
	return wrong, nil
}
