package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/strictjson"
)

// request is read line by line, in the order of the contract's checks: path and query, headers and body, then the guild
// and what the caller may do there. err keeps the first error. After it the methods do nothing and return zero values.
type request struct {
	a   *api
	c   *gin.Context
	ctx context.Context
	err error

	status  int      // of the answer; 200 unless the handler says otherwise
	guildID id.Guild // of the path, if that has the guild's id
	vanity  string   // of the path, if that has no id
	query   url.Values
	key     string // the Idempotency-Key; empty if there is none
	sent    []byte // the body
}

func (a *api) read(c *gin.Context) *request {
	return &request{a: a, c: c, ctx: c.Request.Context(), status: http.StatusOK}
}

// keep stores err if it is the first one.
func (r *request) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

// guild reads the guild's id in the path, then the query.
func (r *request) guild() id.Guild {
	r.guildID = pathID[id.Guild](r, "guildId", "guildId")
	r.parseQuery()
	return r.guildID
}

// guildMember reads the ids of a guild and a user in the path, then the query.
func (r *request) guildMember() id.User {
	r.guildID = pathID[id.Guild](r, "guildId", "guildId")
	user := pathID[id.User](r, "userId", "userId")
	r.parseQuery()
	return user
}

// member reads the query, then the ids of a path /v2/levels/:entry/users/:userId.
func (r *request) member() id.User {
	r.parseQuery()
	r.guildID = pathID[id.Guild](r, "entry", "guildId")
	return pathID[id.User](r, "userId", "userId")
}

// entry reads the guild of a path, by its id or its vanity, then the query.
func (r *request) entry() {
	if r.err == nil {
		r.guildID, r.vanity, r.err = guild.ParseEntry(r.c.Param("entry"))
	}
	r.parseQuery()
}

// adminGuild reads the query, then the guild's id in a path under /admin.
func (r *request) adminGuild() id.Guild {
	r.parseQuery()
	r.guildID = pathID[id.Guild](r, "guildId", "guildId")
	return r.guildID
}

// ofGuild makes a handler for a route under /admin that reads only the guild of its path.
func ofGuild(h func(r *request, g id.Guild) (any, error)) handler {
	return func(r *request) (any, error) {
		g := r.adminGuild()
		if r.err != nil {
			return nil, r.err
		}
		return h(r, g)
	}
}

// adminUser reads the query, then the user's id in a path under /admin.
func (r *request) adminUser() id.User {
	r.parseQuery()
	return pathID[id.User](r, "userId", "userId")
}

// keyID reads a key's id in the path. If the text cannot be an id, no such key exists, which is a 404.
func (r *request) keyID() string {
	keyID := r.c.Param("keyId")
	if !apikey.ValidID(keyID) {
		r.keep(fault.New(fault.NotFound, "There is no key with this id. An id is 12 letters and digits; 'levelboard key list' and GET /admin/keys list them."))
	}
	return keyID
}

// pathID reads an id of the path. name is its name in errors.
func pathID[T id.Guild | id.User](r *request, param, name string) T {
	if r.err != nil {
		return ""
	}
	parsed, err := id.Parse[T](r.c.Param(param))
	if err != nil {
		r.err = fault.New(fault.Invalid, "%s in the path %s.", name, err)
	}
	return parsed
}

// body reads a JSON body of at most maxBody, within edge.BodyTime.
func (r *request) body() []byte {
	if r.err == nil {
		r.sent, r.err = jsonBody(r.c, maxBody)
	}
	return r.sent
}

// document reads a JSON body that is a guild's document or a part of one.
func (r *request) document() []byte {
	if r.err == nil {
		r.sent, r.err = jsonBody(r.c, guild.MaxDocument)
	}
	return r.sent
}

// largeBody reads a JSON body of at most maxLargeBody about the guild of the path. It waits until there is room for it.
func (r *request) largeBody() []byte {
	if r.err == nil {
		r.err = r.a.holdLargeBody(r.c, r.guildID)
	}
	if r.err == nil {
		r.sent, r.err = jsonBody(r.c, maxLargeBody)
	}
	return r.sent
}

// decode reads a JSON body of at most maxBody into a struct with tags of package strictjson.
func (r *request) decode(into any) {
	if r.body(); r.err == nil {
		r.err = strictjson.Decode(r.sent, into)
	}
}

// permitted finds the guild of the path, and rejects a key that may not do this in it.
func (r *request) permitted() *guild.Guild {
	if r.err != nil {
		return nil
	}
	g, err := r.a.deps.Guilds.ByID(r.ctx, r.guildID)
	return r.permit(g, err)
}

// enabled is permitted for routes that need leveling to be enabled in the guild.
func (r *request) enabled() *guild.Guild {
	if r.err != nil {
		return nil
	}
	g, err := r.a.findGuild(r.ctx, r.guildID, "")
	return r.permit(g, err)
}

func (r *request) permit(g *guild.Guild, err error) *guild.Guild {
	if err == nil {
		err = permit(r.c, g.ID)
	}
	r.err = err
	return g
}

// readable finds the guild of the path, if the caller may read its leaderboard.
func (r *request) readable() *guild.Guild {
	if r.err != nil {
		return nil
	}
	g, err := r.a.findGuild(r.ctx, r.guildID, r.vanity)
	if err == nil {
		err = mayRead(r.c, g)
	}
	r.err = err
	return g
}
