package web

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/announce"
)

// announcementsPath is the page where managers say what their guild announces, and where.
const announcementsPath = "/guilds/:guildId/announcements"

// announcementsPage is the content of the page of a guild's announcements.
type announcementsPage struct {
	Guild            *guild.Guild
	Rows             []announcementRow
	Done, Failed     string // just now, in words
	Secret, SecretOf string // a new signing secret, which is shown this once, and the name of its announcement
}

// announcementRow is an announcement, and how far it is.
type announcementRow struct {
	announcement.Announcement
	KindName string
	Status   announce.Status
}

// announcementKinds are the kinds in the order of the page, with what it calls them and says of them.
var announcementKinds = []announcementKind{
	{announcement.Discord, "Discord message", "A message in a channel for each level-up and for the winners of a period."},
	{announcement.Board, "Live board", "One Discord message that always shows the top of the leaderboard."},
	{announcement.Webhook, "Signed webhook", "Each event as JSON, for a program of your own."},
	{announcement.Bot, "Bot message", "The same words where the member wrote, posted by levelboard-bot."},
}

type announcementKind struct {
	Kind       announcement.Kind
	Name, What string
}

// kindOf is what the page calls a kind, and empty for one that there is not.
func kindOf(k announcement.Kind) string {
	for _, one := range announcementKinds {
		if one.Kind == k {
			return one.Name
		}
	}
	return ""
}

// Kinds are what can be added.
func (announcementsPage) Kinds() []announcementKind { return announcementKinds }

// announcementsDone say what was just done, by the name in the page's address.
var announcementsDone = map[string]string{
	"saved": "Saved. Changes take effect within a second.", "deleted": "Announcement deleted.", "on": "Switched on. Events from the time when it was off are not announced.",
}

func (s *Site) announcementRoutes(pages routes) {
	pages.get(announcementsPath, s.managing(s.announcements), unlisted("/guilds/"))
	pages.get(announcementsPath+"/:announcementId", s.managing(s.announcementForm))
	pages.post(announcementsPath+"/:announcementId", s.managing(s.changeAnnouncement), formHere, slow)
}

func (s *Site) announcements(c *gin.Context, g *guild.Guild, sent *form) error {
	return s.showAnnouncements(c, announcementsPage{Guild: g, Done: announcementsDone[sent.Value("done")]})
}

func (s *Site) showAnnouncements(c *gin.Context, page announcementsPage) error {
	statuses, err := s.deps.Announcements.Statuses(c.Request.Context(), page.Guild)
	if err != nil {
		return err
	}
	for i, status := range statuses {
		a := page.Guild.Announcements[i]
		page.Rows = append(page.Rows, announcementRow{a, kindOf(a.Kind), status})
	}
	pageOf(c).secret = page.Secret != ""
	return s.show(c, http.StatusOK, "announcements", "Announcements of "+page.Guild.Name, page)
}

// changeAnnouncement is where every button of both pages leads.
func (s *Site) changeAnnouncement(c *gin.Context, g *guild.Guild, sent *form) error {
	k, do := announce.Key{Guild: g.ID, ID: c.Param("announcementId")}, sent.Value("do")
	s.log.InfoContext(c.Request.Context(), "a manager works on an announcement on the pages", "guild", g.ID,
		"task", displayname.Cut(do, maxShown), "announcement", displayname.Cut(k.ID, maxShown))
	page, err := announcementOf(g, k.ID, sent.Value("kind"))
	if fault.Is(err, fault.NotFound) && do == "delete" {
		return toAnnouncements(c, g, "deleted", nil) // by the first of two presses
	}
	if err != nil {
		return err
	}
	switch do {
	case "test":
		return s.testAnnouncement(c, page, k)
	case "secret":
		secret, err := s.deps.Announcements.NewSecret(c.Request.Context(), k)
		if err != nil {
			return err
		}
		return s.showAnnouncements(c, announcementsPage{Guild: g, Secret: secret, SecretOf: page.Fields["name"]})
	case "on":
		return toAnnouncements(c, g, "on", s.deps.Announcements.SwitchOn(c.Request.Context(), k))
	case "delete":
		page.deleted = true
		return s.useAnnouncement(c, page, true)
	}
	page.read(sent.sent)
	return s.useAnnouncement(c, page, do == "save")
}

// toAnnouncements leads back to the page, unless there was an error.
func toAnnouncements(c *gin.Context, g *guild.Guild, done string, err error) error {
	if err == nil {
		c.Redirect(http.StatusSeeOther, fmt.Sprintf("/guilds/%s/announcements?done=%s", g.ID, done))
	}
	return err
}

func (s *Site) testAnnouncement(c *gin.Context, page *announcementPage, k announce.Key) error {
	tested, err := s.deps.Announcements.Test(c.Request.Context(), k)
	if err != nil {
		return err
	}
	said := cmp.Or(tested.Error, fmt.Sprintf("The webhook answered %d %s.", tested.Status, http.StatusText(tested.Status)))
	shown, name := announcementsPage{Guild: page.Guild}, displayname.Clean(page.Fields["name"])
	if tested.Status/100 == 2 {
		shown.Done = fmt.Sprintf("The test of %s was posted. %s", name, said)
	} else {
		shown.Failed = fmt.Sprintf("The test of %s failed. %s", name, said)
	}
	return s.showAnnouncements(c, shown)
}
