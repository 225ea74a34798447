package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/displayname"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/guilds"
)

// announcements are what the settings page says of announcements beside their fields.
type announcements struct {
	Done, Failed string // just now, in words
	Secret       string // a new signing secret, which is shown this once
	statuses     []announce.Status
	previews     map[string]string // what would be posted, by id; nil when it was not checked
}

// announcementRow is a row of the form's announcements and, when it is saved, how far it is.
type announcementRow struct {
	announcement.Announcement
	Status  *announce.Status
	Open    bool    // its fields are shown
	Preview *string // empty when nothing would be posted
}

// announcementRow returns what stands beside the fields of a row.
func (p *settingsPage) announcementRow(row map[string]string, fields []field) *announcementRow {
	r := &announcementRow{Announcement: announcement.Announcement{ID: row["id"], Name: row["name"], Kind: announcement.Kind(row["kind"]), URL: announcement.Secret(row["url"])}}
	if i := p.announcement(r.ID); i >= 0 && i < len(p.statuses) {
		r.Status = &p.statuses[i]
	}
	if preview, ok := p.previews[r.ID]; ok {
		r.Preview = &preview
	}
	r.Open = r.Status == nil || r.Preview != nil || slices.ContainsFunc(fields, func(f field) bool { return f.Wrong != "" })
	return r
}

// announcement is the place of an announcement among those that are saved, or -1.
func (p *settingsPage) announcement(one string) int {
	return slices.IndexFunc(p.Guild.Announcements, func(a announcement.Announcement) bool { return a.ID == one })
}

// hideAddresses puts typed addresses that are stored as they are shown, so that a form that is sent twice is the same as what it has saved.
func (p *settingsPage) hideAddresses() {
	for _, row := range p.Form.Rows["announcements"] {
		if i := p.announcement(row["id"]); i >= 0 && row["url"] == p.Guild.Announcements[i].URL.Reveal() {
			row["url"] = p.Guild.Announcements[i].URL.Shown()
		}
	}
}

// previewAnnouncements composes what each announcement of the form would post.
func (s *Site) previewAnnouncements(c *gin.Context, page *settingsPage, proposed guilds.Proposal) error {
	g := *page.Guild
	g.Settings, page.previews = proposed.Settings(), map[string]string{}
	for i, one := range g.Announcements {
		text, err := s.deps.Announcements.Preview(c.Request.Context(), &g, &g.Announcements[i])
		if err != nil {
			return err
		}
		page.previews[one.ID] = text
	}
	return nil
}

// useAnnouncement does what a button of a saved announcement says. The form stays as it was typed.
func (s *Site) useAnnouncement(c *gin.Context, page *settingsPage, do, one string) (err error) {
	ctx, k := c.Request.Context(), announce.Key{Guild: page.Guild.ID, ID: one}
	s.log.InfoContext(ctx, "a manager works on an announcement on the pages", "guild", k.Guild, "task", do, "announcement", displayname.Cut(one, maxShown))
	switch do {
	case "secret":
		page.Secret, err = s.deps.Announcements.NewSecret(ctx, k)
	case "on":
		page.Done, err = "Switched on. Events from the time when it was off are not announced.", s.deps.Announcements.SwitchOn(ctx, k)
	default:
		err = s.testAnnouncement(c, page, k)
	}
	if err != nil {
		return err
	}
	return s.showSettings(c, page)
}

func (s *Site) testAnnouncement(c *gin.Context, page *settingsPage, k announce.Key) error {
	tested, err := s.deps.Announcements.Test(c.Request.Context(), k)
	said := cmp.Or(tested.Error, fmt.Sprintf("The webhook answered %d %s.", tested.Status, http.StatusText(tested.Status)))
	if tested.Status/100 == 2 {
		page.Done = "The test was posted. " + said
	} else {
		page.Failed = "The test failed. " + said
	}
	return err
}
