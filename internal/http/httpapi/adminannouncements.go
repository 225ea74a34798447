package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/guilds"
)

// announcementJSON is how far an announcement is.
type announcementJSON struct {
	ID         string     `json:"id"`
	State      string     `json:"state"` // on or off
	Reason     *string    `json:"reason"`
	LastSentAt *time.Time `json:"lastSentAt"`
	LastError  *string    `json:"lastError"`
}

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
	states, err := a.deps.Announcements.States(r.ctx, g)
	if err != nil {
		return err
	}
	list := make([]announcementJSON, len(g.Announcements))
	for i, one := range g.Announcements {
		list[i] = announcementBody(one, states[one.ID])
	}
	return answer(c, http.StatusOK, struct {
		Announcements []announcementJSON `json:"announcements"`
	}{list})
}

func announcementBody(a announcement.Announcement, s announce.State) announcementJSON {
	body := announcementJSON{ID: a.ID, State: "on", LastError: given(s.LastError)}
	if s.Off != "" {
		body.State, body.Reason = "off", &s.Off
	}
	if !s.LastSent.IsZero() {
		body.LastSentAt = &s.LastSent
	}
	return body
}

// given is a text, or nil for none.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
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
	return struct {
		Secret string `json:"secret"`
	}{secret}, err
}

func (a *api) testAnnouncement(ctx context.Context, k announce.Key) (any, error) {
	status, wrong, err := a.deps.Announcements.Test(ctx, k)
	return struct {
		Status int    `json:"status,omitzero"`
		Error  string `json:"error,omitzero"`
	}{status, wrong}, err
}

func (a *api) switchAnnouncementOn(ctx context.Context, k announce.Key) (any, error) {
	return nil, a.deps.Announcements.SwitchOn(ctx, k)
}
