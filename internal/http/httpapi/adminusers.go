package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/erasure"
)

// storedJSON is what is stored about a user.
type storedJSON struct {
	UserID       id.User          `json:"userId"`
	Guilds       []membershipJSON `json:"guilds"`
	Keys         []storedKeyJSON  `json:"keys"`
	Sessions     int64            `json:"sessions"`
	AuditRecords int64            `json:"auditRecords"`
}

type membershipJSON struct {
	ID           id.Guild        `json:"id"`
	XP           *level.XP       `json:"xp"` // as all that follows, null for a user who has flags alone
	Level        *level.Level    `json:"level"`
	MessageCount *int64          `json:"messageCount"`
	Present      *bool           `json:"present"`
	User         *userWithColour `json:"user"`
	Hidden       []string        `json:"hidden"`
}

type storedKeyJSON struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func storedBody(user id.User, found erasure.Stored) storedJSON {
	body := storedJSON{
		UserID: user, Guilds: []membershipJSON{}, Keys: make([]storedKeyJSON, len(found.Keys)),
		Sessions: found.Sessions, AuditRecords: found.AuditRecords,
	}
	for _, in := range found.ByGuild() {
		row := membershipJSON{ID: in.Guild, Hidden: in.Flags.Words()}
		if m := in.Entry; m != nil {
			row.XP, row.Level, row.MessageCount, row.Present = &m.Row.XP, &m.Level, &m.Row.MessageCount, new(!m.Row.Absent)
			row.User = new(pageUser(m.Row.User))
		}
		body.Guilds = append(body.Guilds, row)
	}
	for i, k := range found.Keys {
		body.Keys[i] = storedKeyJSON(k)
	}
	return body
}

func (a *api) getUser(c *gin.Context) error {
	r := a.read(c)
	user := r.adminUser()
	if r.err != nil {
		return r.err
	}
	found, err := a.deps.Users.Find(r.ctx, user)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, storedBody(user, found))
}

func (a *api) eraseUser(c *gin.Context) error {
	r := a.read(c)
	user := r.adminUser()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.Users.Erase(r.ctx, user))
}
