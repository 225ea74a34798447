package httpapi

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/guilds"
)

func (a *api) listAnnouncements(c *gin.Context) error {
	r := a.read(c)
	gid := r.adminGuild()
	if r.err != nil {
		return r.err
	}
	g, err := a.deps.Settings.Read(r.ctx, guilds.Operator, gid)
	if err != nil {
		return err
	}
	list, err := a.deps.Announcements.Statuses(r.ctx, g)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, map[string]any{"announcements": list})
}

// ofAnnouncement runs a call about the announcement of the path and answers with what it returns, or with nothing.
func (a *api) ofAnnouncement(status int, call func(ctx context.Context, k announce.Key) (body any, err error)) gin.HandlerFunc {
	return a.handle(bodiless(func(c *gin.Context) error {
		r := a.read(c)
		k := announce.Key{Guild: r.adminGuild(), ID: c.Param("announcementId")}
		if r.err != nil {
			return r.err
		}
		body, err := call(r.ctx, k)
		if err != nil || body == nil {
			return noContent(c, err)
		}
		return answer(c, status, body)
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
