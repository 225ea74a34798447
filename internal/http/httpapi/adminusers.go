package httpapi

import (
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/erasure"
)

// storedJSON is the data stored about a user.
type storedJSON struct {
	UserID       id.User                 `json:"userId"`
	Guilds       []erasure.GuildDocument `json:"guilds"`
	Keys         []erasure.Key           `json:"keys"`
	Sessions     int64                   `json:"sessions"`
	AuditRecords int64                   `json:"auditRecords"`
}

func storedBody(user id.User, found erasure.Stored) storedJSON {
	body := storedJSON{UserID: user, Keys: found.Keys, Sessions: found.Sessions, AuditRecords: found.AuditRecords}
	for _, in := range found.ByGuild() {
		body.Guilds = append(body.Guilds, in.Document())
	}
	return body
}

func (a *api) getUser(r *request) (any, error) {
	user := r.adminUser()
	if r.err != nil {
		return nil, r.err
	}
	found, err := a.deps.Users.Find(r.ctx, user)
	return storedBody(user, found), err
}

func (a *api) eraseUser(r *request) (any, error) {
	user := r.adminUser()
	if r.err != nil {
		return nil, r.err
	}
	return nil, a.deps.Users.Erase(r.ctx, user)
}
