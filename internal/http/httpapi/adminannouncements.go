package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/guilds"
)

func (a *api) listAnnouncements(r *request, gid id.Guild) (any, error) {
	g, err := a.deps.Settings.Read(r.ctx, guilds.Operator, gid)
	if err != nil {
		return nil, err
	}
	list, err := a.deps.Announcements.Statuses(r.ctx, g)
	return object{"announcements": list}, err
}

// ofAnnouncement runs a call about the announcement of the path and answers with what it returns, or with nothing.
func (a *api) ofAnnouncement(status int, call func(ctx context.Context, k announce.Key) (body any, err error)) gin.HandlerFunc {
	return a.json(bodiless(ofGuild(func(r *request, g id.Guild) (any, error) {
		r.status = status
		return call(r.ctx, announce.Key{Guild: g, ID: r.c.Param("announcementId")})
	})))
}

func (a *api) makeAnnouncementSecret(ctx context.Context, k announce.Key) (any, error) {
	secret, err := a.deps.Announcements.NewSecret(ctx, k)
	return map[string]any{"secret": secret}, err
}

func (a *api) testAnnouncement(ctx context.Context, k announce.Key) (any, error) {
	return a.deps.Announcements.Test(ctx, k)
}

func (a *api) switchAnnouncementOn(ctx context.Context, k announce.Key) (any, error) {
	return nil, a.deps.Announcements.SwitchOn(ctx, k)
}
