package httpapi

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/hidden"
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
		UserID: user, Guilds: make([]membershipJSON, len(found.Guilds)), Keys: make([]storedKeyJSON, len(found.Keys)),
		Sessions: found.Sessions, AuditRecords: found.AuditRecords,
	}
	flags := map[id.Guild]hidden.Flags{}
	for _, in := range found.Hidden {
		flags[in.Guild] = in.Flags
	}
	for i, m := range found.Guilds {
		body.Guilds[i] = membershipJSON{
			m.Guild.ID, &m.Row.XP, &m.Level, &m.Row.MessageCount, new(!m.Row.Absent), new(pageUser(m.Row.User)), flags[m.Guild.ID].Words(),
		}
		delete(flags, m.Guild.ID)
	}
	for _, in := range found.Hidden {
		if flags[in.Guild] != 0 {
			body.Guilds = append(body.Guilds, membershipJSON{ID: in.Guild, Hidden: in.Flags.Words()})
		}
	}
	slices.SortFunc(body.Guilds, func(a, b membershipJSON) int { return cmp.Compare(a.ID, b.ID) })
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
