package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// listLimit is the most that one answer lists, and what it lists when nothing else is asked for.
const listLimit = 1000

// readPaging reads the parameters of a list: after, where the last answer's next said that it continues, and limit.
func readPaging(c *gin.Context) (after string, limit int, err error) {
	values, err := query(c)
	if err != nil {
		return "", 0, err
	}
	if values.Has("after") && values.Get("after") == "" {
		return "", 0, fault.New(fault.Invalid, "The query parameter after must not be empty. Leave it out to begin at the start.")
	}
	if !values.Has("limit") {
		return values.Get("after"), listLimit, nil
	}
	n, err := queryInt(values, "limit", 1, listLimit)
	return values.Get("after"), int(n), err
}

func (a *api) listGuilds(c *gin.Context) error {
	after, limit, err := readPaging(c)
	if err != nil {
		return err
	}
	if after != "" && !id.Valid(after) {
		return fault.New(fault.Invalid, "The query parameter after %s.", id.ErrSnowflake)
	}
	guilds, err := a.deps.Admin.Guilds(c.Request.Context(), id.Guild(after), limit+1)
	if err != nil {
		return err
	}
	guilds, more := firstOf(guilds, limit)
	list := struct {
		Guilds []jsontext.Value `json:"guilds"`
		Next   *id.Guild        `json:"next"`
	}{Guilds: make([]jsontext.Value, len(guilds))}
	for i, g := range guilds {
		if list.Guilds[i], err = guild.Marshal(g.Settings); err != nil {
			return err
		}
	}
	if more {
		list.Next = &guilds[limit-1].ID
	}
	writeJSON(c, http.StatusOK, list)
	return nil
}

// firstOf cuts off what was read beyond the limit, only to know that there is more.
func firstOf[T any](read []T, limit int) (first []T, more bool) {
	return read[:min(limit, len(read))], len(read) > limit
}

func (a *api) getGuild(c *gin.Context) error {
	gid, err := adminGuild(c)
	if err != nil {
		return err
	}
	g, err := a.deps.Admin.Guild(c.Request.Context(), gid)
	if err != nil {
		return err
	}
	return writeGuild(c, http.StatusOK, g)
}

func (a *api) putGuild(c *gin.Context) error {
	gid, sent, err := adminBody(c)
	if err != nil {
		return err
	}
	settings, err := guild.Parse(gid, sent)
	if err != nil {
		return err
	}
	g, created, err := a.deps.Admin.PutGuild(c.Request.Context(), settings)
	if err != nil {
		return err
	}
	if created {
		return writeGuild(c, http.StatusCreated, g)
	}
	return writeGuild(c, http.StatusOK, g)
}

func (a *api) deleteGuild(c *gin.Context) error {
	gid, err := adminGuild(c)
	if err != nil {
		return err
	}
	return noContent(c, a.deps.Admin.DeleteGuild(c.Request.Context(), gid))
}

// adminGuild reads the guild of the path; these routes have no query parameters.
func adminGuild(c *gin.Context) (id.Guild, error) {
	if _, err := query(c); err != nil {
		return "", err
	}
	return pathGuild(c)
}

// adminBody reads the guild of the path and the body; these routes have no query parameters either.
func adminBody(c *gin.Context) (g id.Guild, sent []byte, err error) {
	if g, err = adminGuild(c); err == nil {
		sent, err = body(c, maxBody)
	}
	return g, sent, err
}

func pathGuild(c *gin.Context) (id.Guild, error) { return pathID[id.Guild](c, "guildId") }

func writeGuild(c *gin.Context, status int, g *guild.Guild) error {
	document, err := guild.Marshal(g.Settings)
	if err != nil {
		return err
	}
	write(c, status, document)
	return nil
}
