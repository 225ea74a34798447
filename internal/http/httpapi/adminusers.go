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
	ID           id.Guild       `json:"id"`
	XP           level.XP       `json:"xp"`
	Level        level.Level    `json:"level"`
	MessageCount int64          `json:"messageCount"`
	Present      bool           `json:"present"`
	User         userWithColour `json:"user"`
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
	for i, m := range found.Guilds {
		body.Guilds[i] = membershipJSON{m.Guild.ID, m.Row.XP, m.Level, m.Row.MessageCount, !m.Row.Absent, pageUser(m.Row.User)}
	}
	for i, k := range found.Keys {
		body.Keys[i] = storedKeyJSON(k)
	}
	return body
}

// adminUser reads the path of a request about a user, which takes no query.
func adminUser(c *gin.Context) (id.User, error) {
	if _, err := query(c); err != nil {
		return "", err
	}
	return pathID[id.User](c, "userId")
}

func (a *api) getUser(c *gin.Context) error {
	user, err := adminUser(c)
	if err != nil {
		return err
	}
	found, err := a.deps.Users.Find(c.Request.Context(), user)
	if err != nil {
		return err
	}
	writeJSON(c, http.StatusOK, storedBody(user, found))
	return nil
}

func (a *api) eraseUser(c *gin.Context) error {
	user, err := adminUser(c)
	if err != nil {
		return err
	}
	return noContent(c, a.deps.Users.Erase(c.Request.Context(), user))
}
