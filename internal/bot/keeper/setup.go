package keeper

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

// keyLimit is the limit of the bot's keys, in requests a minute.
const keyLimit = 600

// mostAdmins is how many administrators Levelboard takes.
const mostAdmins = 1000

var (
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

// call makes a call with the guild's key. With the admin token, a guild or a key that is missing is made.
func (g *guild) call(ctx context.Context, r api.Request, out any) error {
	r.Key = g.key()
	err := g.k.Client.Do(ctx, r, out)
	if refused(err) && g.k.AdminToken != "" && g.here() {
		if _, err := g.make(ctx, r.Key); err != nil {
			return err
		}
		r.Key = g.key()
		err = g.k.Client.Do(ctx, r, out)
	}
	switch api.Status(err) {
	case http.StatusUnauthorized:
		return errors.Join(errKey, err)
	case http.StatusForbidden:
		return errors.Join(errGrant, err)
	}
	return err
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

// make brings the owner and the administrators up to date, and makes what is missing: the guild, and a key for it that is the owner's and not the
// one that was refused.
func (g *guild) make(ctx context.Context, refused string) (isNew bool, err error) {
	facts, here := g.k.Chat.Guild(g.id)
	if g.k.AdminToken == "" || !here {
		return false, nil
	}
	g.making.Lock()
	defer g.making.Unlock()
	path, document := "/guilds/"+g.id, g.managers(facts)
	err = g.admin(ctx, http.MethodPatch, path, document, nil)
	if api.Status(err) == http.StatusNotFound {
		g.log.Info("the guild is new to Levelboard")
		isNew, refused = true, g.key()
		maps.Copy(document, names(facts))
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
	if was.Key != "" && was.KeyOwner == facts.OwnerID && was.Key != refused {
		return isNew, nil
	}
	var made struct{ ID, Key string }
	if err := g.admin(ctx, http.MethodPost, "/keys", object{
		"name": "levelboard-bot", "ownerId": facts.OwnerID, "permission": "read_write", "guildIds": []string{g.id}, "rateLimit": keyLimit,
	}, &made); err != nil {
		return isNew, err
	}
	g.save(func(s *state) { s.KeyID, s.Key, s.KeyOwner = made.ID, made.Key, facts.OwnerID })
	if was.KeyID != "" {
		if err := g.admin(ctx, http.MethodDelete, "/keys/"+was.KeyID, nil, nil); err != nil && api.Status(err) != http.StatusNotFound {
			g.log.Warn("the guild's earlier key could not be revoked", "key", was.KeyID, "error", err)
		}
	}
	return isNew, nil
}

// factTicks is how often the facts are sent at most.
const factTicks = 5

// sendFacts sends the guild's facts if they have changed.
func (g *guild) sendFacts(ctx context.Context) error {
	facts, _ := g.k.Chat.Guild(g.id)
	changed := false
	g.update(func() {
		if changed = g.changed && time.Since(g.told) > factTicks*g.k.Tick; changed {
			g.changed, g.told = false, time.Now()
		}
	})
	if !changed {
		return nil
	}
	_, err := g.make(ctx, "")
	if err == nil {
		maps.DeleteFunc(facts.Channels, func(_ string, ch chat.Channel) bool { return ch.Thread })
		directory := names(facts)
		directory["roles"], directory["channels"] = list(facts.Roles), list(facts.Channels)
		err = g.put(ctx, "/directory", directory)
	}
	if err != nil {
		g.update(func() { g.changed = true })
	}
	return err
}

func list[V any](of map[string]V) []V { return slices.AppendSeq([]V{}, maps.Values(of)) }

func names(facts chat.Guild) object {
	return object{"name": facts.Name, "icon": orNull(facts.Icon), "memberCount": max(1, facts.MemberCount)}
}

// managers are the owner and, once all members were listed, the administrators.
func (g *guild) managers(facts chat.Guild) object {
	managers := object{"ownerId": facts.OwnerID}
	g.update(func() {
		if g.admins != nil {
			maps.DeleteFunc(g.admins, func(_ string, is bool) bool { return !is })
			admins := slices.Sorted(maps.Keys(g.admins))
			managers["adminIds"] = append([]string{}, admins[:min(mostAdmins, len(admins))]...)
		}
	})
	return managers
}
