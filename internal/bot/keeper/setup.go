package keeper

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

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

// admin makes a call under /admin.
func (g *guild) admin(ctx context.Context, method, path string, body, out any) error {
	err := g.k.Client.Do(ctx, api.Request{Method: method, Path: path, Body: body, AdminToken: g.k.AdminToken}, out)
	if status := api.Status(err); status == http.StatusUnauthorized || status == http.StatusForbidden {
		return errors.Join(errAdmin, err)
	}
	return err
}

// call makes a call with the guild's key. With the admin token, a guild or a key that is missing is made.
func (g *guild) call(ctx context.Context, r api.Request, out any) error {
	r.Key = g.key()
	err := g.k.Client.Do(ctx, r, out)
	status := api.Status(err)
	if refused := status == http.StatusUnauthorized || status == http.StatusForbidden; refused && g.k.AdminToken != "" && g.here() {
		if _, err := g.make(ctx, r.Key); err != nil {
			return err
		}
		r.Key = g.key()
		err = g.k.Client.Do(ctx, r, out)
		status = api.Status(err)
	}
	switch status {
	case http.StatusUnauthorized:
		return errors.Join(errKey, err)
	case http.StatusForbidden:
		return errors.Join(errGrant, err)
	}
	return err
}

func (g *guild) key() (key string) {
	if g.k.AdminToken == "" {
		return g.k.Key
	}
	g.update(func() { key = g.state.Key })
	return key
}

// make brings the owner and the administrators up to date, and makes what is missing: the guild, and a key for it that is the owner's and not the
// one that was refused.
func (g *guild) make(ctx context.Context, refused string) (isNew bool, err error) {
	facts, here := g.k.chat.Guild(g.id)
	if g.k.AdminToken == "" || !here {
		return false, nil
	}
	g.making.Lock()
	defer g.making.Unlock()
	path, document := "/admin/guilds/"+g.id, g.managers(facts)
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
		g.update(func() { clear(g.sent); g.changed = true })
		g.catchUp()
	}
	var was state
	g.update(func() { was = g.state })
	if was.Key != "" && was.KeyOwner == facts.OwnerID && was.Key != refused {
		return isNew, nil
	}
	var made struct{ ID, Key string }
	if err := g.admin(ctx, http.MethodPost, "/admin/keys", object{
		"name": "levelboard-bot", "ownerId": facts.OwnerID, "permission": "read_write", "guildIds": []string{g.id}, "rateLimit": keyLimit,
	}, &made); err != nil {
		return isNew, err
	}
	g.save(func(s *state) { s.KeyID, s.Key, s.KeyOwner = made.ID, made.Key, facts.OwnerID })
	if was.KeyID != "" {
		if err := g.admin(ctx, http.MethodDelete, "/admin/keys/"+was.KeyID, nil, nil); err != nil && api.Status(err) != http.StatusNotFound {
			g.log.Warn("the guild's earlier key could not be revoked", "key", was.KeyID, "error", err)
		}
	}
	return isNew, nil
}

// sendFacts sends what has changed of the guild's facts.
func (g *guild) sendFacts(ctx context.Context) (err error) {
	changed := false
	g.update(func() { changed, g.changed = g.changed, false })
	now, here := g.k.chat.Guild(g.id)
	if !changed || !here {
		return nil
	}
	if g.k.AdminToken != "" {
		err = g.sendChanged("managers", g.managers(now), func(object) error { _, err := g.make(ctx, ""); return err })
	}
	put := func(body object) error {
		return g.call(ctx, api.Request{Method: http.MethodPut, Path: "/v2/guilds/" + g.id + "/directory", Body: body}, nil)
	}
	if err == nil {
		err = errors.Join(g.sendChanged("names", names(now), put), g.sendChanged("lists", lists(now), put))
	}
	if err != nil {
		g.update(func() { g.changed = true })
	}
	return err
}

// sendChanged sends a part of the facts if it is not as it was sent last.
func (g *guild) sendChanged(part string, body object, send func(object) error) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	hash, same := sha256.Sum256(text), false
	g.update(func() { same = g.sent[part] == hash })
	if same {
		return nil
	}
	if err := send(body); err != nil {
		return err
	}
	g.update(func() { g.sent[part] = hash })
	return nil
}

func names(facts chat.Guild) object {
	return object{"name": facts.Name, "icon": orNull(facts.Icon), "memberCount": max(1, facts.MemberCount)}
}

func lists(facts chat.Guild) object {
	return object{
		"roles":    append([]chat.Role{}, facts.Roles[:min(mostRoles, len(facts.Roles))]...),
		"channels": append([]chat.Channel{}, facts.Channels[:min(mostChannels, len(facts.Channels))]...),
	}
}

// managers are the owner and, once all members were listed, the administrators.
func (g *guild) managers(facts chat.Guild) object {
	managers := object{"ownerId": facts.OwnerID}
	g.update(func() {
		if g.admins != nil {
			admins := []string{}
			for userID, is := range g.admins {
				if is {
					admins = append(admins, userID)
				}
			}
			slices.Sort(admins)
			managers["adminIds"] = admins[:min(mostAdmins, len(admins))]
		}
	})
	return managers
}
