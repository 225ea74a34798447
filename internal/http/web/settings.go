package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
	"levelboard/internal/usecase/guilds"
)

// settingsPath is the page where managers change their guild's settings.
const settingsPath = "/guilds/:guildId/settings"

// settingsPage is the saved settings, the manager's form, and what the page says about them.
type settingsPage struct {
	Guild     *guild.Guild // as saved now
	Directory guild.Directory
	known     *properties.Known // from the saved settings and the directory
	Form      properties.Form
	Saved     bool // just now
	Checked   bool // just now, without errors
	Refused   *form
	Focus     string // the field at which the page opens, without an error, or empty
	Free      string // whether the vanity is available: "", "free" or "yours"
	Preview   *guilds.Preview
	announcements
	Conflicts []properties.Conflict // parts that this form and, meanwhile, another manager changed
	Unsaved   bool                  // the form differs from the saved settings
	Now       time.Time
}

func (s *Site) settings(c *gin.Context, g *guild.Guild, sent *form) error {
	page := &settingsPage{Saved: sent.Value("saved") != "", Refused: sent}
	if err := s.readInto(c.Request.Context(), page, g); err != nil {
		return err
	}
	page.Form = page.known.Filled(g.Edited)
	return s.showSettings(c, page)
}

// changeSettings handles every button of the form. Without script, each button loads the page again.
func (s *Site) changeSettings(c *gin.Context, g *guild.Guild, sent *form) error {
	page := &settingsPage{Form: properties.Read(sent.sent), Refused: sent}
	if err := s.readInto(c.Request.Context(), page, g); err != nil {
		return err
	}
	for name, answer := range page.Form.Fields {
		if part, ok := strings.CutPrefix(name, "take "); ok && answer == "saved" {
			page.known.TakeSaved(page.Form, part)
		}
	}
	pageOf(c).secret = true // an address of a webhook, as it was typed
	page.choose()
	do := sent.Value("do")
	switch verb, argument, _ := strings.Cut(do, " "); verb {
	case "save":
		return s.saveSettings(c, page)
	case "check":
		return s.previewSettings(c, page)
	case "test", "secret", "on":
		return s.useAnnouncement(c, page, verb, argument)
	default:
		page.Focus = page.Form.Edit(do)
		return s.showSettings(c, page)
	}
}

// keeping calls a handler. If the session of a sent form has ended, it answers with
// what was typed, to be sent again after signing in, and reads nothing of the guild.
func (s *Site) keeping(h gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		if sessionOf(c) != nil {
			h(c)
			return
		}
		s.handle(func(c *gin.Context) error {
			_, why := signedIn(c, toManage)
			f, err := readForm(c)
			if err != nil {
				return err
			}
			if f.sent.Del("do"); len(f.sent) == 0 {
				return why
			}
			pageOf(c).secret = true
			return s.show(c, http.StatusUnauthorized, "settings-kept", "Please sign in", f.sent)
		})(c)
	}
}

// merge brings into the form what others saved since it was made, and asks about parts that both
// changed. If the manager went back in the browser after saving, the form has those changes already.
func (p *settingsPage) merge() {
	if !p.Form.IsOf(p.Guild.Edited) {
		p.hideAddresses()
		p.Conflicts = p.known.Merge(p.Form, p.Guild.Edited)
	}
}

// readInto reads the guild and its directory into the page.
func (s *Site) readInto(ctx context.Context, page *settingsPage, g *guild.Guild) (err error) {
	page.Guild = g
	page.Directory, err = s.deps.Settings.Directory(ctx, g.ID)
	page.known = properties.Know(&g.Settings, page.Directory)
	return err
}

// toManage is the reason to sign in on a manager's page.
const toManage = "Sign in to manage your community."

// managing calls a handler with the guild of the path and the sent form, if the visitor manages the guild.
func (s *Site) managing(h func(c *gin.Context, g *guild.Guild, sent *form) error) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		g, err := s.managedGuild(c)
		if err != nil {
			return err
		}
		sent, err := readForm(c)
		if err != nil {
			return err
		}
		return h(c, g, sent)
	})
}

// managedGuild reads the guild of the path from the archive, for its manager.
func (s *Site) managedGuild(c *gin.Context) (*guild.Guild, error) {
	session, err := signedIn(c, toManage)
	if err != nil {
		return nil, err
	}
	var g *guild.Guild
	gid, err := id.Parse[id.Guild](c.Param("guildId"))
	if err == nil {
		g, err = s.deps.Settings.Read(c.Request.Context(), guilds.Manager, gid)
	}
	switch {
	case gid == "" || fault.Is(err, fault.NotFound):
		return nil, fault.Wrap(err, fault.NotFound, "No community has this ID. Check the address, or ask the operator to set it up.")
	case err == nil && !session.Manages(g):
		return nil, fault.New(fault.Forbidden, "Only the owner and the administrators of this community can see and change its settings.")
	}
	return g, err
}

// saveAttempts is how often a form is merged and saved again if others save at the same moment.
const saveAttempts = 5

func (s *Site) saveSettings(c *gin.Context, page *settingsPage) error {
	ctx := c.Request.Context()
	for range saveAttempts {
		page.merge()
		p, ok, err := page.propose()
		switch {
		case err != nil:
			return err
		case len(page.Conflicts) > 0:
			return s.showSettings(c, page)
		case !ok:
			if err := s.checkVanity(ctx, page); err != nil {
				return err
			}
			return s.showSettings(c, page)
		}
		_, err = s.deps.Settings.Save(ctx, page.Guild, p)
		field := ""
		switch {
		case err == nil:
			c.Redirect(http.StatusSeeOther, "/guilds/"+string(page.Guild.ID)+"/settings?saved=1")
			return nil
		case errors.Is(err, guild.ErrChanged):
			g, err := s.deps.Settings.Read(ctx, guilds.Manager, page.Guild.ID)
			if err == nil {
				err = s.readInto(ctx, page, g)
			}
			if err != nil {
				return err
			}
			continue
		case errors.Is(err, guild.ErrVanityTaken):
			field = "vanity"
		case errors.Is(err, guild.ErrSeasonClosed):
			field = "seasons"
		case fault.From(err).Path != "":
			page.refuse(page.place(fault.From(err)))
			return s.showSettings(c, page)
		case !errors.Is(err, guild.ErrTooLong):
			return err
		}
		page.refuse(field, fault.From(err).Message)
		return s.showSettings(c, page)
	}
	return fault.New(fault.Conflict, "Others save these settings at the same moment. Go back and save again.")
}

// previewSettings checks the form without saving it: its errors, whether the vanity is free, what the curve would change.
func (s *Site) previewSettings(c *gin.Context, page *settingsPage) error {
	page.merge()
	p, ok, err := page.propose()
	if err != nil {
		return err
	}
	if err := s.checkVanity(c.Request.Context(), page); err != nil {
		return err
	}
	if curve := page.curve(); curve != nil {
		preview, err := s.deps.Settings.Preview(c.Request.Context(), page.Guild, *curve)
		if err != nil {
			return err
		}
		page.Preview = &preview
	}
	if page.Checked = !page.Refused.bad() && len(page.Conflicts) == 0; ok {
		if err := s.previewAnnouncements(c.Request.Context(), page, p); err != nil {
			return err
		}
	}
	return s.showSettings(c, page)
}

// checkVanity checks whether the vanity in the form is available. If another guild has it, that is an error.
func (s *Site) checkVanity(ctx context.Context, page *settingsPage) error {
	vanity, wrong := guild.ParseVanity(strings.TrimSpace(page.Form.Fields["vanity"]))
	if wrong != nil {
		return nil
	}
	free, err := s.deps.Settings.Free(ctx, page.Guild.ID, string(vanity))
	switch {
	case err != nil:
		return err
	case vanity == page.Guild.Vanity:
		page.Free = "yours"
	case free:
		page.Free = "free"
	default:
		page.refuse("vanity", "Another community has this short name. Choose a different one.")
	}
	return nil
}

// Brief shortens long lists, so that two hundred roles do not fill the page.
func (*settingsPage) Brief(words string) string { return brief(words) }

func brief(words string) string {
	return cmp.Or(displayname.Cut(displayname.Clean(words), 300), "empty")
}

// NameOf returns the name of a member in the preview.
func (*settingsPage) NameOf(m guilds.Moved) string {
	name, _ := displayName(m.User, string(m.UserID))
	return name
}

func (s *Site) showSettings(c *gin.Context, page *settingsPage) (err error) {
	if page.statuses, err = s.deps.Announcements.Statuses(c.Request.Context(), page.Guild); err != nil {
		return err
	}
	status := page.Refused.status()
	if len(page.Conflicts) > 0 {
		status = http.StatusConflict
	}
	page.Now = s.deps.Now()
	page.Unsaved = page.Refused.bad() || !page.known.Same(page.known.Filled(page.Guild.Edited), page.Form)
	return s.show(c, status, "settings", "Settings of "+page.Guild.Name, page)
}
