package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/guilds"
)

func (a *api) listAnnouncements(r *request) (any, error) {
	gid := r.adminGuild()
	if r.err != nil {
		return nil, r.err
	}
	g, err := a.deps.Settings.Read(r.ctx, guilds.Operator, gid)
	if err != nil {
		return nil, err
	}
	list, err := a.deps.Announcements.Statuses(r.ctx, g)
	return object{"announcements": list}, err
}

// ofAnnouncement runs a call about the announcement of the path and answers with what it returns, or with nothing.
func (a *api) ofAnnouncement(status int, call func(ctx context.Context, k announce.Key) (body any, err error)) gin.HandlerFunc {
	return a.json(bodiless(func(r *request) (any, error) {
		k := announce.Key{Guild: r.adminGuild(), ID: r.c.Param("announcementId")}
		if r.err != nil {
			return nil, r.err
		}
		r.status = status
		return call(r.ctx, k)
	}))
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
