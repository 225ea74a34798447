package keeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

// roleChanges are the members whose roles may be wrong. The roles follow from the level at the time of the change, so the order of answers and
// events does not matter.
type roleChanges struct {
	wake chan struct{}

	mu      sync.Mutex
	dirty   map[string]*chat.Member // with the roles that they hold, or nil when those are not known
	rewards map[int]rewards         // by level; noEntry for those without an entry
}

// rewards are the roles that a level gives and takes.
type rewards struct {
	AddRoles    []string `json:"addRoles"`
	RemoveRoles []string `json:"removeRoles"`
}

// noEntry is the level of a member without an entry, who gets no reward.
const noEntry = -1

func (g *guild) noteLevel(userID string) { g.noteRoles(userID, nil) }

func (g *guild) noteRoles(userID string, holds *chat.Member) {
	g.roles.mu.Lock()
	g.roles.dirty[userID] = holds
	g.roles.mu.Unlock()
	poke(g.roles.wake)
}

// take takes up to 100 members whose roles may be wrong.
func (r *roleChanges) take() map[string]*chat.Member {
	r.mu.Lock()
	defer r.mu.Unlock()
	some := map[string]*chat.Member{}
	for id, member := range r.dirty {
		if len(some) == 100 {
			break
		}
		some[id] = member
		delete(r.dirty, id)
	}
	return some
}

func (r *roleChanges) forgetRewards() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rewards = map[int]rewards{}
}

// changeRoles makes the members' roles right until ctx ends.
func (g *guild) changeRoles(ctx context.Context) {
	for {
		some := g.roles.take()
		if len(some) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-g.roles.wake:
			}
			continue
		}
		err := g.fixRoles(ctx, some)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			continue
		}
		roleResults.WithLabelValues("failed").Inc()
		g.log.Warn("roles could not be set; the bot tries again", "members", len(some), "error", err)
		for id := range some {
			g.noteRoles(id, nil)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(retryTime):
		}
	}
}

// fixRoles gives and takes roles of up to 100 members. Those that are done are taken out of the map.
func (g *guild) fixRoles(ctx context.Context, members map[string]*chat.Member) error {
	levels, err := g.levelsOf(ctx, slices.Collect(maps.Keys(members)))
	if err != nil {
		return err
	}
	for id, member := range members {
		if member == nil {
			is, err := g.k.chat.Member(ctx, g.id, id)
			if errors.Is(err, chat.ErrUnknown) {
				delete(members, id)
				continue
			}
			if err != nil {
				return err
			}
			member = &is
		}
		level, ok := levels[id]
		if !ok {
			level = noEntry
		}
		want, err := g.rewardsAt(ctx, level)
		if err == nil && !member.Bot {
			err = g.setRoles(ctx, *member, want)
		}
		if err != nil {
			return err
		}
		delete(members, id)
	}
	return nil
}

// levelsOf returns the levels of those of up to 100 users who have an entry and are present, hidden ones too.
func (g *guild) levelsOf(ctx context.Context, ids []string) (map[string]int, error) {
	var answer struct {
		Members []struct {
			UserID string
			Level  int
		}
		Missing []string
	}
	path := "/v2/guilds/" + g.id + "/members"
	if err := g.call(ctx, api.Request{Method: http.MethodGet, Path: path + "?ids=" + strings.Join(ids, ",")}, &answer); err != nil {
		return nil, err
	}
	levels := map[string]int{}
	for _, m := range answer.Members {
		levels[m.UserID] = m.Level
	}
	for _, id := range answer.Missing {
		var hidden struct{ Level int }
		switch err := g.call(ctx, api.Request{Method: http.MethodGet, Path: path + "/" + id}, &hidden); {
		case err == nil:
			levels[id] = hidden.Level
		case api.Status(err) != http.StatusNotFound:
			return nil, err
		}
	}
	return levels, nil
}

// rewardsAt returns the roles of a level, as of the last reset of the settings.
func (g *guild) rewardsAt(ctx context.Context, level int) (rewards, error) {
	g.roles.mu.Lock()
	at, ok := g.roles.rewards[level]
	g.roles.mu.Unlock()
	if ok {
		return at, nil
	}
	path := fmt.Sprintf("/v2/guilds/%s/role-rewards/level?level=%d&userId=%s", g.id, max(0, level), g.id) // the user makes no difference
	if err := g.call(ctx, api.Request{Method: http.MethodGet, Path: path}, &at); err != nil {
		return rewards{}, err
	}
	if level == noEntry {
		at = rewards{RemoveRoles: slices.Concat(at.AddRoles, at.RemoveRoles)}
	}
	g.roles.mu.Lock()
	defer g.roles.mu.Unlock()
	if g.roles.rewards == nil {
		g.roles.rewards = map[int]rewards{}
	}
	g.roles.rewards[level] = at
	return at, nil
}

// wrong reports whether a member's roles are not those of their level.
func (r rewards) wrong(m chat.Member) bool {
	lacks := func(role string) bool { return !slices.Contains(m.Roles, role) }
	holds := func(role string) bool { return slices.Contains(m.Roles, role) }
	return slices.ContainsFunc(r.AddRoles, lacks) || slices.ContainsFunc(r.RemoveRoles, holds)
}

func (g *guild) setRoles(ctx context.Context, m chat.Member, want rewards) error {
	for given, roles := range map[bool][]string{true: want.AddRoles, false: want.RemoveRoles} {
		for _, role := range roles {
			if slices.Contains(m.Roles, role) == given {
				continue
			}
			err := g.k.chat.SetRole(ctx, g.id, m.ID, role, given)
			switch {
			case err == nil:
				roleResults.WithLabelValues("done").Inc()
			case errors.Is(err, chat.ErrForbidden):
				roleResults.WithLabelValues("forbidden").Inc()
				g.log.Warn("the bot may not give or take this role: in Discord's Server Settings, under Roles, move the bot's role above it and allow the bot to Manage Roles",
					"role", role, "user", m.ID)
			case errors.Is(err, chat.ErrUnknown): // the member has left, or the role was deleted
			default:
				return err
			}
		}
	}
	return nil
}
