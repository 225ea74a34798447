package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/keys"
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
	found, err := a.deps.APIKeys.All(r.ctx, after, limit+1)
	if err != nil {
		return err
	}
	found, more := firstOf(found, limit)
	list := struct {
		Keys []keyJSON `json:"keys"`
		Next *string   `json:"next"`
	}{Keys: make([]keyJSON, len(found))}
	for i, k := range found {
		list.Keys[i] = keyBody(k)
	}
	if more {
		list.Next = &found[limit-1].ID
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
	secret, key, err := a.deps.APIKeys.Create(r.ctx, keys.Operator, n)
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, newKeyJSON{keyJSON: keyBody(&key.Key), Key: secret})
}

func (a *api) revokeKey(c *gin.Context) error {
	r := a.read(c)
	r.parseQuery()
	keyID := r.keyID()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.APIKeys.Revoke(r.ctx, keys.Operator, keyID))
}

func (a *api) grantGuild(c *gin.Context) error {
	r := a.read(c)
	g, keyID := r.adminGuild(), r.keyID()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.APIKeys.Grant(r.ctx, keys.Operator, keyID, g))
}

func (a *api) ungrantGuild(c *gin.Context) error {
	r := a.read(c)
	g, keyID := r.adminGuild(), r.keyID()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.APIKeys.Ungrant(r.ctx, keys.Operator, keyID, g))
}
