package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/guilds"
)

// listLimit is the most that one answer lists, and what it lists when nothing else is asked for.
const listLimit = 1000

// paging reads the parameters of a list: after, where the last answer's next said that it continues, and limit.
func (r *request) paging() (after string, limit int) {
	r.parseQuery()
	if after = r.query.Get("after"); after == "" && r.query.Has("after") {
		r.keep(fault.New(fault.Invalid, "The query parameter after must not be empty. Leave it out to begin at the start."))
	}
	return after, int(r.optionalInt("limit", 1, listLimit, listLimit))
}

func (a *api) listGuilds(c *gin.Context) error {
	r := a.read(c)
	after, limit := r.paging()
	if after != "" && !id.Valid(after) {
		r.keep(fault.New(fault.Invalid, "The query parameter after %s.", id.ErrSnowflake))
	}
	if r.err != nil {
		return r.err
	}
	found, err := a.deps.Settings.List(r.ctx, id.Guild(after), limit+1)
	if err != nil {
		return err
	}
	found, more := firstOf(found, limit)
	list := struct {
		Guilds []jsontext.Value `json:"guilds"`
		Next   *id.Guild        `json:"next"`
	}{Guilds: make([]jsontext.Value, len(found))}
	for i, g := range found {
		if list.Guilds[i], err = guild.Marshal(g.Settings); err != nil {
			return err
		}
	}
	if more {
		list.Next = &found[limit-1].ID
	}
	return answer(c, http.StatusOK, list)
}

// firstOf cuts off what was read beyond the limit, only to know that there is more.
func firstOf[T any](read []T, limit int) (first []T, more bool) {
	return read[:min(limit, len(read))], len(read) > limit
}

func (a *api) getGuild(c *gin.Context) error {
	r := a.read(c)
	gid := r.adminGuild()
	if r.err != nil {
		return r.err
	}
	g, err := a.deps.Settings.Read(r.ctx, guilds.Operator, gid)
	return answerGuild(c, http.StatusOK, g, err)
}

func (a *api) putGuild(c *gin.Context) error {
	r := a.read(c)
	gid := r.adminGuild()
	settings, err := guild.Parse(gid, r.document())
	r.keep(err)
	if r.err != nil {
		return r.err
	}
	g, created, err := a.deps.Settings.Put(r.ctx, settings)
	if created {
		return answerGuild(c, http.StatusCreated, g, err)
	}
	return answerGuild(c, http.StatusOK, g, err)
}

// patchGuild changes some properties of a guild's settings.
func (a *api) patchGuild(c *gin.Context) error {
	r := a.read(c)
	gid := r.adminGuild()
	change, err := guild.ParseChange(gid, r.document())
	r.keep(err)
	if r.err != nil {
		return r.err
	}
	g, err := a.deps.Settings.Change(r.ctx, gid, change)
	return answerGuild(c, http.StatusOK, g, err)
}

func (a *api) deleteGuild(c *gin.Context) error {
	r := a.read(c)
	gid := r.adminGuild()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.Settings.Delete(r.ctx, gid))
}

func answerGuild(c *gin.Context, status int, g *guild.Guild, err error) error {
	if err != nil {
		return err
	}
	document, err := guild.Marshal(g.Settings)
	if err != nil {
		return err
	}
	return write(c, status, document)
}
