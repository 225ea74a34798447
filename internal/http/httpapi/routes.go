package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
)

func (a *api) routes() (http.Handler, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	// Use the encoded path: in the decoded one, /levels/a%2Fusers%2Fb would be the route with two parameters.
	engine.UseEscapedPath = true
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	engine.HandleMethodNotAllowed = true
	engine.RemoteIPHeaders = []string{"X-Forwarded-For"}
	if err := engine.SetTrustedProxies(a.deps.TrustedProxies); err != nil {
		return nil, err
	}
	engine.Use(a.traced()...)
	engine.Use(a.observe, edge.Recover(a.fail))
	engine.NoRoute(a.noRoute)
	engine.NoMethod(a.noMethod)

	// For every route of /v2: identify the caller and charge the limits, then reject a bad key.
	v2 := engine.Group("/v2", a.crossOrigin, a.identify)

	open := v2.Group("", a.refuseBadKey)
	edge.Get(open, "/openapi.json", a.writes(a.openAPI))
	edge.Get(open, "/levels/:entry", a.writes(a.leaderboardPage))
	edge.Get(open, "/levels/:entry/periods", a.privateJSON(a.listPeriods))
	edge.Get(open, "/levels/:entry/activity", a.privateJSON(a.getActivity))
	edge.Get(open, "/levels/:entry/users/:userId/card.svg", a.rankCard(cardSVG))
	edge.Get(open, "/levels/:entry/users/:userId/card.png", a.rankCard(cardPNG))

	keyed := v2.Group("", a.requireKey, a.recorded)
	keyed.POST("/guilds/:guildId/messages", a.json(a.awardMessages))
	keyed.PUT("/guilds/:guildId/directory", a.json(a.putDirectory))
	keyed.PUT("/guilds/:guildId/members", a.json(a.putMembers))
	keyed.PUT("/guilds/:guildId/presence", a.json(a.putPresence))
	keyed.PUT("/guilds/:guildId/hidden", a.json(a.putHidden))
	edge.Get(keyed, "/guilds/:guildId/hidden", a.privateJSON(a.listHidden))
	edge.Get(keyed, eventsRoute, a.writes(a.followEvents))
	edge.Get(keyed, "/guilds/:guildId/role-rewards/level", a.privateJSON(a.roleRewardChanges))
	edge.Get(keyed, "/guilds/:guildId/members", a.privateJSON(a.listMembers))
	edge.Get(keyed, "/guilds/:guildId/members/:userId", a.privateJSON(a.getPosition))
	edge.Get(keyed, "/guilds/:guildId/members/:userId/around", a.privateJSON(a.getAround))
	edge.Get(keyed, "/guilds/:guildId/members/:userId/history", a.privateJSON(a.getHistory))
	// Gin wants one name for parameters at the same position, so the guild of a member is called entry too.
	edge.Get(keyed, "/levels/:entry/users/:userId", a.privateJSON(a.getMember))
	keyed.POST("/levels/:entry/users/:userId", a.json(a.createMember))
	keyed.PATCH("/levels/:entry/users/:userId", a.json(a.updateMember))
	keyed.DELETE("/levels/:entry/users/:userId", a.json(bodiless(a.deleteMember)))

	operator := engine.Group("/admin", noStore, a.requireAdmin, a.recorded)
	edge.Get(operator, "/guilds", a.json(a.listGuilds))
	edge.Get(operator, "/guilds/:guildId", a.json(ofGuild(a.getGuild)))
	operator.PUT("/guilds/:guildId", a.json(a.putGuild))
	operator.PATCH("/guilds/:guildId", a.json(a.patchGuild))
	operator.DELETE("/guilds/:guildId", a.json(bodiless(ofGuild(a.deleteGuild))))
	edge.Get(operator, "/guilds/:guildId/announcements", a.json(ofGuild(a.listAnnouncements)))
	operator.POST("/guilds/:guildId/announcements/:announcementId/on", a.ofAnnouncement(http.StatusNoContent, a.switchAnnouncementOn))
	operator.POST("/guilds/:guildId/announcements/:announcementId/secret", a.ofAnnouncement(http.StatusCreated, a.makeAnnouncementSecret))
	operator.POST("/guilds/:guildId/announcements/:announcementId/test", edge.Slow, a.ofAnnouncement(http.StatusOK, a.testAnnouncement))
	edge.Get(operator, "/guilds/:guildId/audit", a.json(a.readAudit))
	edge.Get(operator, "/guilds/:guildId/checkpoints", a.json(ofGuild(a.listCheckpoints)))
	operator.POST("/guilds/:guildId/checkpoints", edge.Slow, a.json(a.createCheckpoint))
	operator.DELETE("/guilds/:guildId/checkpoints/:checkpointId", a.json(bodiless(ofGuild(a.deleteCheckpoint))))
	operator.POST("/guilds/:guildId/checkpoints/:checkpointId/restore", edge.Slow, a.json(bodiless(ofGuild(a.restoreCheckpoint))))
	edge.Get(operator, "/guilds/:guildId/export", edge.Slow, a.writes(a.exportMembers))
	operator.POST("/guilds/:guildId/imports", edge.Slow, a.json(a.beginImport))
	operator.POST("/guilds/:guildId/imports/:importId/finish", edge.Slow, a.json(a.finishImport))
	operator.PUT("/guilds/:guildId/members", a.json(a.importMembers))
	operator.POST("/guilds/:guildId/reset", edge.Slow, a.json(bodiless(ofGuild(a.resetGuild))))
	edge.Get(operator, "/keys", a.json(a.listKeys))
	operator.POST("/keys", a.json(a.createKey))
	operator.DELETE("/keys/:keyId", a.json(bodiless(a.revokeKey)))
	operator.PUT("/keys/:keyId/guilds/:guildId", a.json(bodiless(a.grantGuild)))
	operator.DELETE("/keys/:keyId/guilds/:guildId", a.json(bodiless(a.ungrantGuild)))
	edge.Get(operator, "/users/:userId", edge.Slow, a.json(a.getUser))
	operator.DELETE("/users/:userId", edge.Slow, a.json(bodiless(a.eraseUser)))

	if a.deps.Pages != nil {
		a.deps.Pages.Routes(engine)
	}
	return engine, nil
}

func (a *api) noRoute(c *gin.Context) {
	a.unrouted(c, fault.New(fault.NotFound, "There is nothing at this address. GET /v2/openapi.json describes what there is."))
}

func (a *api) noMethod(c *gin.Context) {
	a.unrouted(c, fault.New(fault.MethodNotAllowed, "This address does not take %s. The Allow header says what it takes.", shorten(c.Request.Method)))
}

// unrouted charges the limits on /v2, since every answer there has their headers. A bad key is 401 there, too.
func (a *api) unrouted(c *gin.Context, f *fault.Error) {
	if underV2(c.Request) {
		for _, step := range []gin.HandlerFunc{a.crossOrigin, a.identify, a.refuseBadKey} {
			if step(c); c.IsAborted() {
				return
			}
		}
		if isPreflight(c) && f.Code == fault.MethodNotAllowed {
			c.Status(http.StatusNoContent)
			return
		}
	} else if a.deps.Pages != nil && forPerson(c.Request) {
		a.deps.Pages.Refuse(c, f)
		return
	}
	a.fail(c, f)
}

// forPerson reports whether a browser asks for a page. All other clients are answered as programs.
func forPerson(r *http.Request) bool {
	admin := r.URL.Path == "/admin" || strings.HasPrefix(r.URL.Path, "/admin/")
	return !admin && strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/html")
}

// openAPI answers with the API's description, which does not change while the process runs.
func (a *api) openAPI(r *request) error {
	if r.parseQuery(); r.err != nil {
		return r.err
	}
	h, body := r.c.Writer.Header(), a.deps.OpenAPI
	h.Set("Cache-Control", "public, max-age="+maxAge(time.Hour))
	h.Set("Vary", varyOpen)
	// Anybody may ask for it without a key, and it is large, so pack it only once.
	if len(body) >= edge.LeastPacked && edge.AcceptsGzip(r.c.Request.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		body = a.packedOpenAPI()
	}
	return write(r.c, http.StatusOK, body)
}
