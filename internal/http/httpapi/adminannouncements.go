package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/usecase/announce"
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
	g, err := a.deps.Settings.Read(r.ctx, gid)
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

// announcementKey reads the path of an announcement.
func (r *request) announcementKey() announce.Key {
	return announce.Key{Guild: r.adminGuild(), ID: r.c.Param("announcementId")}
}

func (a *api) makeAnnouncementSecret(c *gin.Context) error {
	r := a.read(c)
	k := r.announcementKey()
	if r.err != nil {
		return r.err
	}
	secret, err := a.deps.Announcements.NewSecret(r.ctx, k)
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, struct {
		Secret string `json:"secret"`
	}{secret})
}

func (a *api) testAnnouncement(c *gin.Context) error {
	r := a.read(c)
	k := r.announcementKey()
	if r.err != nil {
		return r.err
	}
	status, wrong, err := a.deps.Announcements.Test(r.ctx, k)
	switch {
	case err != nil:
		return err
	case wrong != "":
		return answer(c, http.StatusOK, struct {
			Error string `json:"error"`
		}{wrong})
	}
	return answer(c, http.StatusOK, struct {
		Status int `json:"status"`
	}{status})
}

func (a *api) switchAnnouncementOn(c *gin.Context) error {
	r := a.read(c)
	k := r.announcementKey()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.Announcements.SwitchOn(r.ctx, k))
}
