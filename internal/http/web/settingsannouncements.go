package web

import (
	"context"
	"slices"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/displayname"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/guilds"
)

// announcements is what the settings page shows about announcements beside their fields.
type announcements struct {
	Done, Failed string // what a button did, and why a test failed
	Secret       string // a new signing secret, shown only once
	statuses     []announce.Status
	previews     map[string]string // what would be posted, by id; nil unless the form was checked
}

// announcementRow is an announcement of the form, with its status if it is saved.
type announcementRow struct {
	ID, Name, Kind, Address string
	Status                  *announce.Status
	Open                    bool    // show its fields
	Preview                 *string // empty if nothing would be posted
}

// announcementRow returns the announcement whose form fields these are.
func (p *settingsPage) announcementRow(row map[string]string, fields []field) *announcementRow {
	r := &announcementRow{ID: row["id"], Name: row["name"], Kind: row["kind"], Address: announcement.Secret(row["url"]).Shown()}
	for i, status := range p.statuses {
		if status.ID == r.ID {
			r.Status = &p.statuses[i]
		}
	}
	if preview, ok := p.previews[r.ID]; ok {
		r.Preview = &preview
	}
	r.Open = r.Status == nil || r.Preview != nil || slices.ContainsFunc(fields, func(f field) bool { return f.Wrong != "" })
	return r
}

// hideAddresses replaces typed addresses that are stored by their shown form. So a form that is sent twice equals what it saved.
func (p *settingsPage) hideAddresses() {
	for _, row := range p.Form.Rows["announcements"] {
		if stored := p.Guild.Announcement(row["id"]); stored != nil && row["url"] == stored.URL.Reveal() {
			row["url"] = stored.URL.Shown()
		}
	}
}

// previewAnnouncements renders a sample of each announcement in the form.
func (s *Site) previewAnnouncements(ctx context.Context, page *settingsPage, proposed guilds.Proposal) (err error) {
	g := *page.Guild
	g.Settings, page.previews = proposed.Settings(), map[string]string{}
	for i, one := range g.Announcements {
		if page.previews[one.ID], err = s.deps.Announcements.Preview(ctx, &g, &g.Announcements[i]); err != nil {
			return err
		}
	}
	return nil
}

// useAnnouncement handles a button of a saved announcement, and shows the form as it was typed.
func (s *Site) useAnnouncement(c *gin.Context, page *settingsPage, do, one string) (err error) {
	ctx, k := c.Request.Context(), announce.Key{Guild: page.Guild.ID, ID: one}
	s.log.InfoContext(ctx, "a manager uses an announcement", "guild", k.Guild, "task", do, "announcement", displayname.Cut(one, maxShown))
	switch do {
	case "secret":
		page.Secret, err = s.deps.Announcements.NewSecret(ctx, k)
	case "on":
		page.Done, err = "Switched on. Events from the time when it was off are not announced.", s.deps.Announcements.SwitchOn(ctx, k)
	default:
		var tested announce.Tested
		tested, err = s.deps.Announcements.Test(ctx, k)
		page.Done, page.Failed = "The test was posted.", tested.Problem
	}
	if err != nil {
		return err
	}
	return s.showSettings(c, page)
}
