package httpapi

import (
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/leaderboard"
)

// storedJSON is what is stored about a user.
type storedJSON struct {
	UserID       id.User          `json:"userId"`
	Guilds       []membershipJSON `json:"guilds"`
	Keys         []erasure.Key    `json:"keys"`
	Sessions     int64            `json:"sessions"`
	AuditRecords int64            `json:"auditRecords"`
}

type membershipJSON struct {
	ID           id.Guild          `json:"id"`
	XP           *level.XP         `json:"xp"` // as all that follows, null for a user who has flags alone
	Level        *level.Level      `json:"level"`
	MessageCount *int64            `json:"messageCount"`
	Present      *bool             `json:"present"`
	User         *leaderboard.User `json:"user"`
	Hidden       []string          `json:"hidden"`
}

func storedBody(user id.User, found erasure.Stored) storedJSON {
	body := storedJSON{
		UserID: user, Keys: found.Keys, Sessions: found.Sessions, AuditRecords: found.AuditRecords,
	}
	for _, in := range found.ByGuild() {
		row := membershipJSON{ID: in.Guild, Hidden: in.Flags.Words()}
		if m := in.Entry; m != nil {
			row.XP, row.Level, row.MessageCount, row.Present, row.User = &m.Row.XP, &m.Level, &m.Row.MessageCount, new(!m.Row.Absent), &m.Row.User
		}
		body.Guilds = append(body.Guilds, row)
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
