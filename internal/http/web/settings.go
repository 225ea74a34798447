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

// settingsPath is the page where managers set their guild up.
const settingsPath = "/guilds/:guildId/settings"

// settingsPage is the saved settings, the form as the manager left it, and what there is to say about it.
type settingsPage struct {
	Guild     *guild.Guild // as it is saved now
	Directory guild.Directory
	known     *properties.Known // of both
	Form      properties.Form
	Saved     bool // just now
	Checked   bool // just now, and nothing is wrong
	Refused   *form
	Focus     string // the field that the page is about, though nothing is wrong with it, or empty
	Free      string // what is known of the vanity: "", "free" or "yours"
	Preview   *guilds.Preview
	Conflicts []properties.Conflict // what was changed here and, since this form was made, by somebody else
	Unsaved   bool                  // the form is not as what is saved
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

// changeSettings is where every button of the form leads; without script each of them is a page of its own.
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
	page.choose()
	switch do := sent.Value("do"); do {
	case "save":
		return s.saveSettings(c, page)
	case "check":
		return s.previewSettings(c, page)
	default:
		page.Focus = page.Form.Edit(do)
		return s.showSettings(c, page)
	}
}

// keeping runs a handler, or answers a form whose session has ended: what was typed comes back, to be sent again. Nothing is read of the guild
// for it.
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
			return s.show(c, http.StatusUnauthorized, "settings-kept", "Please sign in", f.sent)
		})(c)
	}
}

// merge brings into the form what others saved since it was made, and asks about what both changed. What the same manager saved, before they went
// back to the form, is in it already.
func (p *settingsPage) merge() {
	if !p.Form.IsOf(p.Guild.Edited) {
		p.Conflicts = p.known.Merge(p.Form, p.Guild.Edited)
	}
}

// readInto puts the guild into the page, with its directory.
func (s *Site) readInto(ctx context.Context, page *settingsPage, g *guild.Guild) (err error) {
	page.Guild = g
	page.Directory, err = s.deps.Settings.Directory(ctx, g.ID)
	page.known = properties.Know(&g.Settings, page.Directory)
	return err
}

// toManage is what signing in is for.
const toManage = "Sign in to manage your community."

// managing runs a handler with the guild of the path, for its manager, and what was sent.
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

// managedGuild reads the guild of the path for its manager, as it is in the archive.
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
		return nil, fault.Wrap(err, fault.NotFound, "No community has this ID. Check the address.")
	case err == nil && !session.Manages(g):
		return nil, fault.New(fault.Forbidden, "Only the owner and the administrators of this community can see and change its settings.")
	}
	return g, err
}

// saveAttempts is how often a form is merged and saved again when others save at the same moment.
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
		case !errors.Is(err, guild.ErrTooLong):
			return err
		}
		page.refuse(field, fault.From(err).Message)
		return s.showSettings(c, page)
	}
	return fault.New(fault.Conflict, "Others save these settings at the same moment. Go back and save again.")
}

// previewSettings judges the form without saving it: what is wrong, whether the vanity is free, what the curve would do.
func (s *Site) previewSettings(c *gin.Context, page *settingsPage) error {
	page.merge()
	if _, _, err := page.propose(); err != nil {
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
	page.Checked = !page.Refused.bad() && len(page.Conflicts) == 0
	return s.showSettings(c, page)
}

// checkVanity finds out what is known of the vanity in the form, and refuses another guild's.
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

// Brief keeps a list of two hundred roles from filling the page.
func (*settingsPage) Brief(words string) string { return brief(words) }

func brief(words string) string {
	return cmp.Or(displayname.Cut(displayname.Clean(words), 300), "empty")
}

// NameOf is what to call a member of the preview.
func (*settingsPage) NameOf(m guilds.Moved) string {
	name, _ := displayName(m.User, string(m.UserID))
	return name
}

func (s *Site) showSettings(c *gin.Context, page *settingsPage) error {
	status := page.Refused.status()
	if len(page.Conflicts) > 0 {
		status = http.StatusConflict
	}
	page.Now = s.deps.Now()
	page.Unsaved = page.Refused.bad() || !page.known.Same(page.known.Filled(page.Guild.Edited), page.Form)
	return s.show(c, status, "settings", "Settings of "+page.Guild.Name, page)
}
