package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func (a *api) routes() (http.Handler, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	// The encoded path, or /levels/a%2Fusers%2Fb would be the route with two parameters.
	engine.UseEscapedPath = true
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	engine.HandleMethodNotAllowed = true
	engine.RemoteIPHeaders = []string{"X-Forwarded-For"}
	if err := engine.SetTrustedProxies(a.deps.TrustedProxies); err != nil {
		return nil, err
	}
	engine.Use(a.traced()...)
	engine.Use(a.observe, a.recover)
	engine.NoRoute(a.noRoute)
	engine.NoMethod(a.noMethod)

	// Every route of /v2: identify the caller and charge the limits, then refuse a bad key.
	v2 := engine.Group("/v2", a.crossOrigin, a.identify)

	open := v2.Group("", a.refuseBadKey)
	get(open, "/openapi.json", a.handle(a.openAPI))
	get(open, "/levels/:entry", a.handle(a.leaderboardPage))
	get(open, "/levels/:entry/periods", a.handle(a.listPeriods))
	get(open, "/levels/:entry/activity", a.handle(a.getActivity))
	get(open, "/levels/:entry/users/:userId/card.svg", a.rankCard(cardSVG))
	get(open, "/levels/:entry/users/:userId/card.png", a.rankCard(cardPNG))

	keyed := v2.Group("", a.requireKey, a.recorded)
	keyed.POST("/guilds/:guildId/messages", a.handle(a.awardMessages))
	keyed.PUT("/guilds/:guildId/directory", a.handle(a.putDirectory))
	keyed.PUT("/guilds/:guildId/members", a.handle(a.putMembers))
	keyed.PUT("/guilds/:guildId/presence", a.handle(a.putPresence))
	get(keyed, eventsRoute, a.handle(a.followEvents))
	get(keyed, "/guilds/:guildId/role-rewards/level", a.handle(a.roleRewardChanges))
	get(keyed, "/guilds/:guildId/members", a.handle(a.listMembers))
	get(keyed, "/guilds/:guildId/members/:userId", a.handle(a.getPosition))
	get(keyed, "/guilds/:guildId/members/:userId/around", a.handle(a.getAround))
	get(keyed, "/guilds/:guildId/members/:userId/history", a.handle(a.getHistory))
	// Gin wants one name for a parameter at one position, so the guild of a member is called entry too.
	get(keyed, "/levels/:entry/users/:userId", a.handle(a.getMember))
	keyed.POST("/levels/:entry/users/:userId", a.handle(a.createMember))
	keyed.PATCH("/levels/:entry/users/:userId", a.handle(a.updateMember))
	keyed.DELETE("/levels/:entry/users/:userId", a.handle(bodiless(a.deleteMember)))

	operator := engine.Group("/admin", noStore, a.requireAdmin, a.recorded)
	get(operator, "/guilds", a.handle(a.listGuilds))
	get(operator, "/guilds/:guildId", a.handle(a.getGuild))
	operator.PUT("/guilds/:guildId", a.handle(a.putGuild))
	operator.DELETE("/guilds/:guildId", a.handle(bodiless(a.deleteGuild)))
	get(operator, "/guilds/:guildId/audit", a.handle(a.readAudit))
	get(operator, "/guilds/:guildId/checkpoints", a.handle(a.listCheckpoints))
	operator.POST("/guilds/:guildId/checkpoints", slowly(a.handle(a.createCheckpoint)))
	operator.DELETE("/guilds/:guildId/checkpoints/:checkpointId", a.handle(bodiless(a.deleteCheckpoint)))
	operator.POST("/guilds/:guildId/checkpoints/:checkpointId/restore", slowly(a.handle(bodiless(a.restoreCheckpoint))))
	get(operator, "/guilds/:guildId/export", slowly(a.handle(a.exportMembers)))
	operator.POST("/guilds/:guildId/imports", slowly(a.handle(a.beginImport)))
	operator.POST("/guilds/:guildId/imports/:importId/finish", slowly(a.handle(a.finishImport)))
	operator.PUT("/guilds/:guildId/members", a.handle(a.importMembers))
	operator.POST("/guilds/:guildId/reset", slowly(a.handle(bodiless(a.resetGuild))))
	get(operator, "/keys", a.handle(a.listKeys))
	operator.POST("/keys", a.handle(a.createKey))
	operator.DELETE("/keys/:keyId", a.handle(bodiless(a.revokeKey)))
	operator.PUT("/keys/:keyId/guilds/:guildId", a.handle(bodiless(a.grantGuild)))
	operator.DELETE("/keys/:keyId/guilds/:guildId", a.handle(bodiless(a.ungrantGuild)))
	get(operator, "/users/:userId", slowly(a.handle(a.getUser)))
	operator.DELETE("/users/:userId", slowly(a.handle(bodiless(a.eraseUser))))

	if a.deps.Pages != nil {
		a.deps.Pages.Routes(engine)
	}
	return engine, nil
}

// get routes GET, and HEAD, whose body net/http leaves out.
func get(group *gin.RouterGroup, path string, h gin.HandlerFunc) {
	group.GET(path, h)
	group.HEAD(path, h)
}
