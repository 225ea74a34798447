package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
)

// keyJSON is a key as /admin/keys shows it. The hash never leaves the archive.
type keyJSON struct {
	CreatedAt  *string           `json:"createdAt"`
	ExpiresAt  *string           `json:"expiresAt"`
	GuildIDs   []id.Guild        `json:"guildIds"`
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	OwnerID    id.User           `json:"ownerId"`
	Permission apikey.Permission `json:"permission"`
	RateLimit  *int              `json:"rateLimit"`
}

// newKeyJSON is the answer to the creation of a key, the only one that holds the secret.
type newKeyJSON struct {
	keyJSON
	Key string `json:"key"`
}

func keyBody(k *apikey.Key) keyJSON {
	shown := keyJSON{
		CreatedAt: timestamp(k.CreatedAt), GuildIDs: append([]id.Guild{}, k.GuildIDs...), ID: k.ID, Name: k.Name,
		OwnerID: k.OwnerID, Permission: k.Permission, RateLimit: k.RateLimit,
	}
	if k.ExpiresAt != nil {
		shown.ExpiresAt = timestamp(*k.ExpiresAt)
	}
	return shown
}

func (a *api) listKeys(c *gin.Context) error {
	r := a.read(c)
	after, limit := r.paging()
	if after != "" && !apikey.ValidID(after) {
		r.keep(fault.New(fault.Invalid, "The query parameter after must be the id of a key, as the last answer's next gave it."))
	}
	if r.err != nil {
		return r.err
	}
	keys, err := a.deps.Admin.Keys(r.ctx, after, limit+1)
	if err != nil {
		return err
	}
	keys, more := firstOf(keys, limit)
	list := struct {
		Keys []keyJSON `json:"keys"`
		Next *string   `json:"next"`
	}{Keys: make([]keyJSON, len(keys))}
	for i, k := range keys {
		list.Keys[i] = keyBody(k)
	}
	if more {
		list.Next = &keys[limit-1].ID
	}
	return answer(c, http.StatusOK, list)
}

func (a *api) createKey(c *gin.Context) error {
	r := a.read(c)
	r.parseQuery()
	n, err := apikey.ParseNewKey(r.body(), a.deps.Now())
	r.keep(err)
	if r.err != nil {
		return r.err
	}
	secret, key, err := a.deps.Admin.CreateKey(r.ctx, n)
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, newKeyJSON{keyJSON: keyBody(&key), Key: secret})
}

func (a *api) revokeKey(c *gin.Context) error {
	r := a.read(c)
	r.parseQuery()
	keyID := r.keyID()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.Admin.Revoke(r.ctx, keyID))
}

func (a *api) grantGuild(c *gin.Context) error {
	r := a.read(c)
	g, keyID := r.adminGuild(), r.keyID()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.Admin.Grant(r.ctx, keyID, g))
}

func (a *api) ungrantGuild(c *gin.Context) error {
	r := a.read(c)
	g, keyID := r.adminGuild(), r.keyID()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.Admin.Ungrant(r.ctx, keyID, g))
}
