package httpapi

import (
	"net/http"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/guilds"
)

// listLimit is the maximum and the default number of items in one answer of a list.
const listLimit = 1000

// paging reads the parameters of a list: after, which is the last answer's next, and limit.
func (r *request) paging() (after string, limit int) {
	r.parseQuery()
	if after = r.query.Get("after"); after == "" && r.query.Has("after") {
		r.keep(fault.New(fault.Invalid, "The query parameter after must not be empty. Leave it out to begin at the start."))
	}
	return after, int(r.optionalInt("limit", 1, listLimit, listLimit))
}

func (a *api) listGuilds(r *request) (any, error) {
	after, limit := r.paging()
	if after != "" && !id.Valid(after) {
		r.keep(fault.New(fault.Invalid, "The query parameter after %s.", id.ErrSnowflake))
	}
	if r.err != nil {
		return nil, r.err
	}
	found, err := a.deps.Settings.List(r.ctx, id.Guild(after), limit+1)
	found, more := firstOf(found, limit)
	list := struct {
		Guilds []guild.Settings `json:"guilds"`
		Next   *id.Guild        `json:"next"`
	}{Guilds: make([]guild.Settings, len(found))}
	for i, g := range found {
		list.Guilds[i] = g.Settings
	}
	if more {
		list.Next = &found[limit-1].ID
	}
	return list, err
}

// firstOf cuts off the item that was read beyond the limit to learn whether there is more.
func firstOf[T any](read []T, limit int) (first []T, more bool) {
	return read[:min(limit, len(read))], len(read) > limit
}

func (a *api) getGuild(r *request, gid id.Guild) (any, error) {
	return settingsOf(a.deps.Settings.Read(r.ctx, guilds.Operator, gid))
}

func (a *api) putGuild(r *request) (any, error) {
	gid := r.adminGuild()
	settings, err := guild.Parse(gid, r.document())
	r.keep(err)
	if r.err != nil {
		return nil, r.err
	}
	g, created, err := a.deps.Settings.Put(r.ctx, settings)
	if created {
		r.status = http.StatusCreated
	}
	return settingsOf(g, err)
}

// patchGuild changes some of a guild's settings.
func (a *api) patchGuild(r *request) (any, error) {
	gid := r.adminGuild()
	change, err := guild.ParseChange(gid, r.document())
	r.keep(err)
	if r.err != nil {
		return nil, r.err
	}
	return settingsOf(a.deps.Settings.Change(r.ctx, gid, change))
}

func (a *api) deleteGuild(r *request, gid id.Guild) (any, error) {
	return nil, a.deps.Settings.Delete(r.ctx, gid)
}

// settingsOf returns the document of the guild, or the error.
func settingsOf(g *guild.Guild, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return g.Settings, nil
}
