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

// compareMembers notes whose roles are wrong, and makes everybody news. Levelboard has the messages of an earlier run, so none of them brings back
// who has left.
func (g *guild) compareMembers(ctx context.Context) error {
	defer g.update(func() { g.listing = false })
	board, err := g.rows(ctx, "/v2/levels/"+g.id)
	hidden, hiddenErr := g.hiddenRows(ctx)
	list, listErr := g.k.Chat.Members(ctx, g.id)
	if err := errors.Join(err, hiddenErr, listErr); err != nil {
		return err
	}
	levels, members := map[string]*int{}, map[string]*chat.Member{} // a member without an entry has no level; one who left is nil
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

// noteRoles notes that a member's roles may be wrong. They are changed by the level as it is then, so the order of answers and events is free.
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
