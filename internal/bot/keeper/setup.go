package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

// facts are what Levelboard was sent of a guild, as JSON. Each part is sent when it has changed.
type facts struct{ base, lists, managers string }

// keyLimit is the limit of the bot's keys, in requests a minute.
const keyLimit = 600

// Limits of the API on what a guild has.
const (
	mostRoles    = 500
	mostChannels = 1000
	mostAdmins   = 1000
)

var (
	errAdmin  = errors.New("LEVELBOARD_ADMIN_TOKEN is not the token with which the service runs, or the service has none")
	errKey    = errors.New("LEVELBOARD_KEY is no valid key: it was revoked, has expired, or is mistyped. Make another one on the page /profile or with `levelboard key create`")
	errGrant  = errors.New("LEVELBOARD_KEY has no grant for this guild, or may only read: add a grant with `levelboard key grant`, or remove the bot from the guild")
	errNoList = errors.New("no such guild in Levelboard, or its leveling is off: a manager can switch it on in the guild's settings")
)

// setUp makes the guild and the key in Levelboard where they are missing. Without the admin token there is nothing to make.
func (g *guild) setUp(ctx context.Context, here bool) error {
	if g.k.AdminToken != "" && here {
		facts, ok := g.k.chat.Guild(g.id)
		if !ok {
			return nil
		}
		if _, err := g.makeGuild(ctx, facts); err != nil {
			return err
		}
		if err := g.makeKey(ctx, facts.OwnerID, ""); err != nil {
			return err
		}
	}
	g.update(func() { g.known = true })
	return nil
}

// admin makes a call under /admin.
func (g *guild) admin(ctx context.Context, method, path string, body, out any) error {
	err := g.k.Client.Do(ctx, api.Request{Method: method, Path: path, Body: body, AdminToken: g.k.AdminToken}, out)
	if status := api.Status(err); status == http.StatusUnauthorized || status == http.StatusForbidden {
		return errors.Join(errAdmin, err)
	}
	return err
}

// patch changes properties of the guild's document and leaves the rest as it is.
func (g *guild) patch(ctx context.Context, properties object) error {
	return g.admin(ctx, http.MethodPatch, "/admin/guilds/"+g.id, properties, nil)
}

// makeGuild brings the guild's facts up to date, and makes the guild if Levelboard does not know it.
func (g *guild) makeGuild(ctx context.Context, facts chat.Guild) (isNew bool, err error) {
	path, document := "/admin/guilds/"+g.id, base(facts)
	maps.Copy(document, g.managers(facts))
	err = g.patch(ctx, document)
	if api.Status(err) != http.StatusNotFound {
		return false, err
	}
	g.log.Info("the guild is new to Levelboard")
	g.update(func() { g.resend, g.changed, g.behind = true, true, true })
	return true, g.admin(ctx, http.MethodPut, path, document, nil)
}

// remake makes a guild that was deleted again. One whose leveling is off stays as it is.
func (g *guild) remake(ctx context.Context, cause error) error {
	facts, here := g.k.chat.Guild(g.id)
	if g.k.AdminToken == "" || !here {
		return errors.Join(errNoList, cause)
	}
	isNew, err := g.makeGuild(ctx, facts)
	switch {
	case err != nil:
		return err
	case !isNew:
		return errors.Join(errNoList, cause)
	}
	return g.makeKey(ctx, facts.OwnerID, g.keyNow())
}

// makeKey makes the guild's API key if there is none, it is not the owner's, or it is the one that Levelboard does not take any more.
func (g *guild) makeKey(ctx context.Context, ownerID, rejected string) error {
	g.making.Lock()
	defer g.making.Unlock()
	var was state
	g.update(func() { was = g.state })
	if was.Key != "" && was.KeyOwner == ownerID && was.Key != rejected {
		return nil
	}
	var made struct{ ID, Key string }
	if err := g.admin(ctx, http.MethodPost, "/admin/keys", object{
		"name": "levelboard-bot", "ownerId": ownerID, "permission": "read_write", "guildIds": []string{g.id}, "rateLimit": keyLimit,
	}, &made); err != nil {
		return err
	}
	g.save(func(s *state) { s.KeyID, s.Key, s.KeyOwner = made.ID, made.Key, ownerID })
	if was.KeyID != "" {
		if err := g.admin(ctx, http.MethodDelete, "/admin/keys/"+was.KeyID, nil, nil); err != nil && api.Status(err) != http.StatusNotFound {
			g.log.Warn("the guild's earlier key could not be revoked", "key", was.KeyID, "error", err)
		}
	}
	return nil
}

func (g *guild) keyNow() (key string) {
	if g.k.AdminToken == "" {
		return g.k.Key
	}
	g.update(func() { key = g.state.Key })
	return key
}

// call makes a call with the guild's key. With the admin token, a guild or a key that is gone is made again.
func (g *guild) call(ctx context.Context, r api.Request, out any) error {
	r.Key = g.keyNow()
	err := g.k.Client.Do(ctx, r, out)
	status := api.Status(err)
	if g.k.AdminToken == "" || !g.here() || status != http.StatusUnauthorized && status != http.StatusForbidden {
		return explain(err)
	}
	facts, _ := g.k.chat.Guild(g.id)
	if _, err := g.makeGuild(ctx, facts); err != nil {
		return err
	}
	if err := g.makeKey(ctx, facts.OwnerID, r.Key); err != nil {
		return err
	}
	g.log.Info("the guild's key was gone, the bot has made another one")
	r.Key = g.keyNow()
	return explain(g.k.Client.Do(ctx, r, out))
}

func explain(err error) error {
	switch api.Status(err) {
	case http.StatusUnauthorized:
		return errors.Join(errKey, err)
	case http.StatusForbidden:
		return errors.Join(errGrant, err)
	}
	return err
}

// sendFacts sends what has changed of the guild's facts.
func (g *guild) sendFacts(ctx context.Context) error {
	now, here := g.k.chat.Guild(g.id)
	if !here {
		return nil
	}
	g.update(func() {
		if g.resend {
			g.sent = facts{}
		}
		g.resend, g.changed = false, false
	})
	err := errors.Join(
		g.sendChanged(&g.sent.base, base(now), func(body object) error { return g.putDirectory(ctx, body) }),
		g.sendChanged(&g.sent.lists, lists(now), func(body object) error { return g.putDirectory(ctx, body) }),
	)
	if err == nil && g.k.AdminToken != "" {
		err = g.sendChanged(&g.sent.managers, g.managers(now), func(body object) error {
			if err := g.patch(ctx, body); err != nil {
				return err
			}
			return g.makeKey(ctx, now.OwnerID, "")
		})
	}
	if err != nil {
		g.update(func() { g.changed = true })
	}
	return err
}

func (g *guild) putDirectory(ctx context.Context, body object) error {
	return g.call(ctx, api.Request{Method: http.MethodPut, Path: "/v2/guilds/" + g.id + "/directory", Body: body}, nil)
}

func (g *guild) sendChanged(last *string, body object, send func(object) error) error {
	text, err := json.Marshal(body)
	if err != nil || string(text) == *last {
		return err
	}
	if err := send(body); err != nil {
		return err
	}
	*last = string(text)
	return nil
}

func base(facts chat.Guild) object {
	return object{"name": facts.Name, "icon": orNull(facts.Icon), "memberCount": max(1, facts.MemberCount)}
}

func lists(facts chat.Guild) object {
	roles, channels := []object{}, []object{}
	for _, r := range facts.Roles[:min(mostRoles, len(facts.Roles))] {
		role := object{"id": r.ID, "name": r.Name, "color": nil, "position": max(0, r.Position)}
		if r.Color != 0 {
			role["color"] = r.Color
		}
		roles = append(roles, role)
	}
	for _, c := range facts.Channels[:min(mostChannels, len(facts.Channels))] {
		channels = append(channels, object{"id": c.ID, "name": c.Name, "parentId": orNull(c.ParentID), "position": max(0, c.Position), "type": c.Type})
	}
	return object{"roles": roles, "channels": channels}
}

// managers are the owner and, once all members were listed, the administrators.
func (g *guild) managers(facts chat.Guild) object {
	managers := object{"ownerId": facts.OwnerID}
	g.update(func() {
		if g.listed {
			admins := slices.Sorted(maps.Keys(g.admins))
			managers["adminIds"] = append([]string{}, admins[:min(mostAdmins, len(admins))]...)
		}
	})
	return managers
}
