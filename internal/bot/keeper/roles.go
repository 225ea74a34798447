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

// rewards are the roles that a level gives and takes.
type rewards struct{ AddRoles, RemoveRoles []string }

// noEntry is the level of a member without an entry, who gets no reward.
const noEntry = -1

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

// rewardsAt returns the roles of a level, as of the last reset of the settings.
func (g *guild) rewardsAt(ctx context.Context, userID string, level int) (at rewards, err error) {
	known := false
	if g.update(func() { at, known = g.rewards[level] }); known {
		return at, nil
	}
	if err := g.get(ctx, fmt.Sprintf("/v2/guilds/%s/role-rewards/level?level=%d&userId=%s", g.id, max(0, level), userID), &at); err != nil {
		return rewards{}, err
	}
	if level == noEntry {
		at = rewards{RemoveRoles: slices.Concat(at.AddRoles, at.RemoveRoles)}
	}
	g.update(func() { g.rewards[level] = at })
	return at, nil
}

// changes returns the roles that a member has to be given, true, and those to be taken, false.
func (r rewards) changes(m chat.Member) map[string]bool {
	changes := map[string]bool{}
	for given, roles := range map[bool][]string{true: r.AddRoles, false: r.RemoveRoles} {
		for _, role := range roles {
			if slices.Contains(m.Roles, role) != given {
				changes[role] = given
			}
		}
	}
	return changes
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
	if api.Status(err) == http.StatusNotFound {
		entry.Level, err = noEntry, nil
	}
	if err != nil {
		return err
	}
	want, err := g.rewardsAt(ctx, userID, entry.Level)
	if err != nil {
		return err
	}
	for role, given := range want.changes(m) {
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
	return nil
}
