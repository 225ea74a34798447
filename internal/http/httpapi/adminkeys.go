package httpapi

import (
	"net/http"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/keys"
)

// keyJSON is a key as /admin/keys shows it.
type keyJSON struct {
	CreatedAt *string `json:"createdAt"`
	ExpiresAt *string `json:"expiresAt"`
	*apikey.Key
	Secret string `json:"key,omitzero"` // only in the answer that created it
}

func keyBody(k *apikey.Key, secret string) keyJSON {
	shown := keyJSON{CreatedAt: timestamp(k.CreatedAt), Key: k, Secret: secret}
	if k.ExpiresAt != nil {
		shown.ExpiresAt = timestamp(*k.ExpiresAt)
	}
	return shown
}

func (a *api) listKeys(r *request) (any, error) {
	after, limit := r.paging()
	if after != "" && !apikey.ValidID(after) {
		r.keep(fault.New(fault.Invalid, "The query parameter after must be the id of a key, as the last answer's next gave it."))
	}
	if r.err != nil {
		return nil, r.err
	}
	found, err := a.deps.APIKeys.All(r.ctx, after, limit+1)
	found, more := firstOf(found, limit)
	list := struct {
		Keys []keyJSON `json:"keys"`
		Next *string   `json:"next"`
	}{Keys: make([]keyJSON, len(found))}
	for i, k := range found {
		list.Keys[i] = keyBody(k, "")
	}
	if more {
		list.Next = &found[limit-1].ID
	}
	return list, err
}

func (a *api) createKey(r *request) (any, error) {
	r.parseQuery()
	n, err := apikey.ParseNewKey(r.body(), a.deps.Now())
	r.keep(err)
	if r.err != nil {
		return nil, r.err
	}
	secret, key, err := a.deps.APIKeys.Create(r.ctx, keys.Operator, n)
	r.status = http.StatusCreated
	return keyBody(&key.Key, secret), err
}

func (a *api) revokeKey(r *request) (any, error) {
	r.parseQuery()
	keyID := r.keyID()
	if r.err != nil {
		return nil, r.err
	}
	return nil, a.deps.APIKeys.Revoke(r.ctx, keys.Operator, keyID)
}

func (a *api) grantGuild(r *request) (any, error) {
	g, keyID := r.adminGuild(), r.keyID()
	if r.err != nil {
		return nil, r.err
	}
	return nil, a.deps.APIKeys.Grant(r.ctx, keys.Operator, keyID, g)
}

func (a *api) ungrantGuild(r *request) (any, error) {
	g, keyID := r.adminGuild(), r.keyID()
	if r.err != nil {
		return nil, r.err
	}
	return nil, a.deps.APIKeys.Ungrant(r.ctx, keys.Operator, keyID, g)
}
