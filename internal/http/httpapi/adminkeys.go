package httpapi

import (
	"context"
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
	after, limit, err := readPaging(c)
	if err != nil {
		return err
	}
	if after != "" && !apikey.ValidID(after) {
		return fault.New(fault.Invalid, "The query parameter after must be the id of a key, as the last answer's next gave it.")
	}
	keys, err := a.deps.Admin.Keys(c.Request.Context(), after, limit+1)
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
	writeJSON(c, http.StatusOK, list)
	return nil
}

func (a *api) createKey(c *gin.Context) error {
	if _, err := query(c); err != nil {
		return err
	}
	sent, err := body(c, maxBody)
	if err != nil {
		return err
	}
	request, err := apikey.ParseNewKey(sent, a.deps.Now())
	if err != nil {
		return err
	}
	secret, key, err := a.deps.Admin.CreateKey(c.Request.Context(), request)
	if err != nil {
		return err
	}
	writeJSON(c, http.StatusCreated, newKeyJSON{keyJSON: keyBody(&key), Key: secret})
	return nil
}

func (a *api) revokeKey(c *gin.Context) error {
	if _, err := query(c); err != nil {
		return err
	}
	keyID, err := pathKeyID(c)
	if err != nil {
		return err
	}
	return noContent(c, a.deps.Admin.Revoke(c.Request.Context(), keyID))
}

// pathKeyID refuses what cannot be an id as what it is, a key that does not exist.
func pathKeyID(c *gin.Context) (string, error) {
	keyID := c.Param("keyId")
	if !apikey.ValidID(keyID) {
		return "", fault.New(fault.NotFound, "There is no key with this id. An id is 12 letters and digits; 'levelboard key list' and GET /admin/keys list them.")
	}
	return keyID, nil
}

// changeGrant handles the routes of one grant.
func changeGrant(change func(ctx context.Context, keyID string, g id.Guild) error) handler {
	return func(c *gin.Context) error {
		gid, err := adminGuild(c)
		if err != nil {
			return err
		}
		keyID, err := pathKeyID(c)
		if err != nil {
			return err
		}
		return noContent(c, change(c.Request.Context(), keyID, gid))
	}
}

func noContent(c *gin.Context, err error) error {
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}
