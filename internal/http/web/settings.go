package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/guildsettings"
)

// settingsPath is the page where managers set their guild up.
const settingsPath = "/guilds/:guildId/settings"

// settingsPage is the saved settings, the form as the manager left it, and what there is to say about it.
type settingsPage struct {
	Guild     *guild.Guild // as it is saved now
	Directory guild.Directory
	Form      settingsForm
	Saved     bool    // just now
	Checked   bool    // just now, and nothing is wrong
	Wrongs    []wrong // in the order of the page
	Free      string  // what is known of the vanity: "", "free", "yours" or "taken"
	Preview   *guildsettings.Preview
	Conflict  bool         // the settings were saved since this form was opened, and are not as in it
	Conflicts []difference // where they are not, when the form is right
	Unsaved   bool         // the form is not as what is saved
	Now       time.Time
}

func (s *Site) settings(c *gin.Context) error {
	page, err := s.managedPage(c)
	if err != nil {
		return err
	}
	page.Form, page.Saved = formOf(page.Guild, page.Directory), c.Query("saved") != ""
	return s.showSettings(c, http.StatusOK, page)
}

// changeSettings is where every button of the form leads; without script each of them is a page of its own.
func (s *Site) changeSettings(c *gin.Context) error {
	page, err := s.managedPage(c)
	if err != nil {
		return err
	}
	sent, err := postForm(c)
	if err != nil {
		return err
	}
	page.Form = readForm(sent)
	page.choose()
	switch do, row, _ := strings.Cut(sent.Get("do"), " "); do {
	case "save":
		return s.saveSettings(c, page)
	case "check":
		return s.previewSettings(c, page)
	default:
		page.Form.edit(do, row)
		return s.showSettings(c, http.StatusOK, page)
	}
}

// managedPage is the page without its form.
func (s *Site) managedPage(c *gin.Context) (*settingsPage, error) {
	g, err := s.managedGuild(c)
	if err != nil {
		return nil, err
	}
	d, err := s.deps.Settings.Directory(c.Request.Context(), g.ID)
	return &settingsPage{Guild: g, Directory: d}, err
}

// managedGuild reads the guild of the path for its manager, as it is in the archive. Who may is judged first, by what is in memory.
func (s *Site) managedGuild(c *gin.Context) (*guild.Guild, error) {
	session, err := signedIn(c, "Sign in to manage your community.")
	if err != nil {
		return nil, err
	}
	gid, err := id.Parse[id.Guild](c.Param("guildId"))
	if err != nil || s.deps.Settings == nil {
		return nil, noGuild()
	}
	known, err := s.deps.Guilds.ByID(c.Request.Context(), gid)
	if fault.Is(err, fault.NotFound) {
		return nil, noGuild() // the cache's own words are for programs
	}
	if err != nil {
		return nil, err
	}
	if !session.Manages(known) {
		return nil, notManager()
	}
	g, err := s.deps.Settings.Read(c.Request.Context(), gid)
	if err == nil && !session.Manages(g) {
		return nil, notManager()
	}
	return g, err
}

func noGuild() error {
	return fault.New(fault.NotFound, "No community has this ID. Check the address.")
}

func notManager() error {
	return fault.New(fault.Forbidden, "Only the owner and the administrators of this community can see and change its settings.")
}

func (s *Site) saveSettings(c *gin.Context, page *settingsPage) error {
	p, ok, err := page.propose()
	if err != nil {
		return err
	}
	if page.Form.Fields["version"] != strconv.FormatInt(page.Guild.Edited, 10) {
		return s.savedSince(c, page, p, ok)
	}
	if !ok {
		if err := s.checkVanity(c.Request.Context(), page); err != nil {
			return err
		}
		return s.showSettings(c, http.StatusUnprocessableEntity, page)
	}
	_, err = s.deps.Settings.Save(c.Request.Context(), page.Guild, p)
	switch {
	case errors.Is(err, guild.ErrVanityTaken):
		page.Free = "taken"
		page.refuse("vanity", fault.From(err).Message)
		return s.showSettings(c, http.StatusUnprocessableEntity, page)
	case errors.Is(err, guild.ErrSeasonClosed):
		page.refuse(seasons, fault.From(err).Message)
		return s.showSettings(c, http.StatusUnprocessableEntity, page)
	case errors.Is(err, guild.ErrTooLong):
		page.refuse("", fault.From(err).Message)
		return s.showSettings(c, http.StatusUnprocessableEntity, page)
	case errors.Is(err, guild.ErrChanged):
		if page.Guild, err = s.deps.Settings.Read(c.Request.Context(), page.Guild.ID); err != nil {
			return err
		}
		return s.savedSince(c, page, p, ok)
	case err != nil:
		return err
	}
	return afterSaving(c, page)
}

func afterSaving(c *gin.Context, page *settingsPage) error {
	c.Redirect(http.StatusSeeOther, "/guilds/"+string(page.Guild.ID)+"/settings?saved=1")
	return nil
}

// savedSince answers a form that was opened before the last save, maybe the same manager's (Back, a second press on Save). If all is saved
// as the form wants it, nothing is left to do. Otherwise the manager sees both and decides; the form gets the version that is shown.
func (s *Site) savedSince(c *gin.Context, page *settingsPage, p guildsettings.Proposal, ok bool) error {
	if ok {
		mine := *page.Guild
		mine.Settings = p.Settings()
		// Compare what the page shows, not the documents: a new row has got an id that the form does not know.
		page.Conflicts = differences(formOf(page.Guild, page.Directory), formOf(&mine, page.Directory))
		if len(page.Conflicts) == 0 {
			return afterSaving(c, page)
		}
	}
	page.Form.Fields["version"] = strconv.FormatInt(page.Guild.Edited, 10)
	page.Conflict = true
	return s.showSettings(c, http.StatusConflict, page)
}

// previewSettings judges the form without saving it: what is wrong, whether the vanity is free, what the curve would do.
func (s *Site) previewSettings(c *gin.Context, page *settingsPage) error {
	_, ok, err := page.propose()
	if err != nil {
		return err
	}
	if err = s.checkVanity(c.Request.Context(), page); err != nil {
		return err
	}
	if curve := page.curve(); curve != nil {
		preview, err := s.deps.Settings.Preview(c.Request.Context(), page.Guild, *curve)
		if err != nil {
			return err
		}
		page.Preview = &preview
	}
	status := http.StatusOK
	if !ok || len(page.Wrongs) > 0 {
		status = http.StatusUnprocessableEntity
	}
	page.Checked = status == http.StatusOK
	return s.showSettings(c, status, page)
}

// checkVanity finds out what is known of the vanity in the form, and refuses another guild's.
func (s *Site) checkVanity(ctx context.Context, page *settingsPage) (err error) {
	if page.Free, err = s.freedom(ctx, page); page.Free == "taken" {
		page.refuse("vanity", "Another community has this short name. Choose a different one.")
	}
	return err
}

// freedom says what is known of the vanity in the form.
func (s *Site) freedom(ctx context.Context, page *settingsPage) (string, error) {
	vanity, err := guild.ParseVanity(strings.TrimSpace(page.Form.Fields["vanity"]))
	switch {
	case err != nil:
		return "", nil
	case vanity == page.Guild.Vanity:
		return "yours", nil
	}
	free, err := s.deps.Settings.Free(ctx, page.Guild.ID, string(vanity))
	if err != nil {
		return "", err
	}
	if free {
		return "free", nil
	}
	return "taken", nil
}

// NameOf is what to call a member of the preview.
func (*settingsPage) NameOf(m guildsettings.Moved) string {
	name, _ := displayName(m.User, string(m.UserID))
	return name
}

func (s *Site) showSettings(c *gin.Context, status int, page *settingsPage) error {
	page.Now = s.deps.Now()
	page.Unsaved = len(page.Wrongs) > 0 || len(differences(formOf(page.Guild, page.Directory), page.Form)) > 0
	return s.show(c, status, "settings", "Settings of "+page.Guild.Name, page)
}
