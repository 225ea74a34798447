package keeper

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

const (
	keyLimit   = 600  // of the bot's keys, in requests a minute
	mostAdmins = 1000 // that Levelboard takes
	factTicks  = 5    // between two times that the facts are sent
)

var (
	errNew    = errors.New("the guild is new to Levelboard")
	errAdmin  = errors.New("LEVELBOARD_ADMIN_TOKEN is not the token with which the service runs, or the service has none")
	errKey    = errors.New("LEVELBOARD_KEY is no valid key: it was revoked, has expired, or is mistyped. Make another one on the page /profile or with `levelboard key create`")
	errGrant  = errors.New("LEVELBOARD_KEY has no grant for this guild, or may only read: add a grant with `levelboard key grant`, or remove the bot from the guild")
	errNoList = errors.New("no such guild in Levelboard, or its leveling is off: a manager can switch it on in the guild's settings")
)

// refused reports whether a call was not allowed.
func refused(err error) bool {
	return api.Status(err) == http.StatusUnauthorized || api.Status(err) == http.StatusForbidden
}

// admin makes a call under /admin.
func (g *guild) admin(ctx context.Context, method, path string, body, out any) error {
	err := g.k.Client.Do(ctx, api.Request{Method: method, Path: "/admin" + path, Body: body, AdminToken: g.k.AdminToken}, out)
	if refused(err) {
		return errors.Join(errAdmin, err)
	}
	return err
}

// call makes a call with the guild's key. A key that the bot made itself and that is refused is made again by the worker.
func (g *guild) call(ctx context.Context, r api.Request, out any) error {
	r.Key = g.key()
	err := g.k.Client.Do(ctx, r, out)
	switch {
	case !refused(err):
		return err
	case g.k.AdminToken != "":
		g.update(func() { g.refused, g.changed, g.told = r.Key, true, time.Time{} })
		return err
	case api.Status(err) == http.StatusUnauthorized:
		return errors.Join(errKey, err)
	}
	return errors.Join(errGrant, err)
}

func (g *guild) get(ctx context.Context, path string, out any) error {
	return g.call(ctx, api.Request{Method: http.MethodGet, Path: path}, out)
}

func (g *guild) put(ctx context.Context, path string, body object) error {
	return g.call(ctx, api.Request{Method: http.MethodPut, Path: "/v2/guilds/" + g.id + path, Body: body}, nil)
}

func (g *guild) key() string {
	if g.k.AdminToken == "" {
		return g.k.Key
	}
	return g.now().Key
}

// make brings the owner and the administrators up to date, and makes what is missing: the guild, and a key for it that is the owner's and not
// refused. Only the worker calls it.
func (g *guild) make(ctx context.Context) (isNew bool, err error) {
	path, document := "/guilds/"+g.id, object{}
	var owner, unfit, name string
	members := 0
	g.update(func() {
		owner, unfit, name, members = g.facts.OwnerID, g.refused, g.facts.Name, max(1, g.members)
		document["ownerId"] = owner
		if g.admins != nil {
			maps.DeleteFunc(g.admins, func(_ string, is bool) bool { return !is })
			admins := slices.DeleteFunc(slices.Sorted(maps.Keys(g.admins)), func(id string) bool { return id == owner })
			document["adminIds"] = append([]string{}, admins[:min(mostAdmins, len(admins))]...)
		}
	})
	if g.k.AdminToken == "" || owner == "" {
		return false, nil
	}
	err = g.admin(ctx, http.MethodPatch, path, document, nil)
	if api.Status(err) == http.StatusNotFound {
		isNew, unfit, document["name"], document["memberCount"] = true, g.key(), name, members
		err = g.admin(ctx, http.MethodPut, path, document, nil)
	}
	if err != nil {
		return false, err
	}
	if isNew {
		g.update(func() { g.changed = true })
		g.catchUp()
	}
	was := g.now()
	if was.Key != "" && was.KeyOwner == owner && was.Key != unfit {
		return isNew, nil
	}
	var made struct{ ID, Key string }
	if err := g.admin(ctx, http.MethodPost, "/keys", object{
		"name": "levelboard-bot", "ownerId": owner, "permission": "read_write", "guildIds": []string{g.id}, "rateLimit": keyLimit,
	}, &made); err != nil {
		return isNew, err
	}
	g.save(func(s *state) { s.KeyID, s.Key, s.KeyOwner = made.ID, made.Key, owner })
	if was.KeyID != "" {
		if err := g.admin(ctx, http.MethodDelete, "/keys/"+was.KeyID, nil, nil); err != nil && api.Status(err) != http.StatusNotFound {
			g.log.Warn("the guild's earlier key could not be revoked", "key", was.KeyID, "error", err)
		}
	}
	return isNew, nil
}

// sendFacts reads and sends the guild's facts if they have changed.
func (g *guild) sendFacts(ctx context.Context) error {
	changed, members := false, 0
	g.update(func() {
		members = g.members
		if changed = g.changed && time.Since(g.told) > factTicks*g.k.Tick; changed {
			g.changed, g.told = false, time.Now()
		}
	})
	if !changed {
		return nil
	}
	facts, err := g.k.Chat.Guild(ctx, g.id)
	if err == nil {
		g.noteFacts(facts)
		_, err = g.make(ctx)
	}
	if err == nil {
		err = g.put(ctx, "/directory", object{
			"name": facts.Name, "icon": orNull(facts.Icon), "memberCount": max(1, members), "roles": facts.Roles, "channels": facts.Channels,
		})
	}
	if err != nil {
		g.update(func() { g.changed = true })
	}
	return err
}

// noteFacts notes the facts, and has members compared when a role became one that matters.
func (g *guild) noteFacts(facts chat.Guild) {
	admins, hiding := map[string]bool{}, map[string]bool{}
	for _, r := range facts.Roles {
		if r.Administrator {
			admins[r.ID] = true
		}
		if slices.ContainsFunc(g.k.HideRoles, func(named string) bool { return named == r.ID || strings.EqualFold(named, r.Name) }) {
			hiding[r.ID] = true
		}
	}
	g.update(func() {
		g.behind = g.behind || !maps.Equal(admins, g.adminRoles) || !maps.Equal(hiding, g.hideRoles)
		g.facts, g.adminRoles, g.hideRoles = facts, admins, hiding
	})
}
