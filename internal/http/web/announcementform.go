package web

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/properties"
	"levelboard/internal/usecase/guilds"
)

// announcementPage is the form of one announcement as the manager left it, and what there is to say about it.
type announcementPage struct {
	Guild    *guild.Guild      // as it is saved now
	Fields   map[string]string // as text, right or wrong
	Refused  *form
	Checked  bool   // just now, and nothing is wrong
	Preview  string // what would be posted, when it was checked
	Conflict bool   // it was saved otherwise since this form was opened
	deleted  bool   // it is about to be
	at       int    // its place among the guild's, one past the last for a new one
}

// newAnnouncement is in the address of the form in place of an id.
const newAnnouncement = "new"

// announcementOf is the form of a saved announcement, or of a new one of a kind. A new one has its id already: a form that is sent twice saves
// one announcement.
func announcementOf(g *guild.Guild, wanted, kind string) (*announcementPage, error) {
	page := &announcementPage{Guild: g, Refused: &form{}}
	a := announcement.Announcement{ID: uuid.NewString(), Kind: announcement.Kind(kind), Top: 10}
	a.SetDefaults()
	page.find(wanted)
	switch {
	case !page.New():
		a = g.Announcements[page.at]
	case wanted != newAnnouncement:
		return nil, fault.New(fault.NotFound, "There is no such announcement. It may have been deleted.")
	case kindOf(a.Kind) == "":
		a.Kind = announcement.Discord
	}
	page.Fields = properties.FilledAnnouncement(&a)
	page.Fields["seen"] = page.saved()
	return page, nil
}

// find notes the place of the announcement of that id.
func (p *announcementPage) find(wanted string) {
	all := p.Guild.Announcements
	if p.at = slices.IndexFunc(all, func(a announcement.Announcement) bool { return a.ID == wanted }); p.at < 0 {
		p.at = len(all)
	}
}

// New reports whether the announcement is not saved yet.
func (p *announcementPage) New() bool { return p.at == len(p.Guild.Announcements) }

// KindName is what the page calls the announcement's kind.
func (p *announcementPage) KindName() string { return kindOf(announcement.Kind(p.Fields["kind"])) }

// saved stands for the announcement as it is saved now; it is empty for a new one.
func (p *announcementPage) saved() string {
	if p.New() {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(properties.Encode(p.Guild.Announcements[p.at])))
}

// read takes what was sent. The kind stays, and the id of a saved announcement.
func (p *announcementPage) read(sent url.Values) {
	sent.Set("kind", p.Fields["kind"])
	if !p.New() {
		sent.Set("id", p.Fields["id"])
	}
	p.Fields = properties.Read(sent).Fields
	p.find(p.Fields["id"])
}

// Shown are the fields of the form.
func (p *announcementPage) Shown() (list []field) {
	for _, property := range properties.Announced(announcement.Kind(p.Fields["kind"])) {
		list = append(list, fieldFor(property, property.Name, p.Fields, p.Refused))
	}
	return list
}

// refuse puts what is wrong beside its field.
func (p *announcementPage) refuse(w *fault.Error) {
	message, found := strings.TrimSuffix(strings.TrimSuffix(w.Rule(), "."), ", not a string"), wrong{} // every field is text
	place, _ := properties.PlaceOf(w.Path)
	if place.List.Name == "announcements" && place.Row == p.at {
		found.ID, found.Label = fieldID(place.Property.Name), place.Property.Label
		if place.Item >= 0 {
			message = fmt.Sprintf("entry %d: %s", place.Item+1, message)
		}
	}
	if p.Refused.Wrong(found.ID) == "" {
		found.Message = sentence(message)
		p.Refused.note(found)
	}
}

// propose judges the form, and puts what is wrong beside its fields; of what is deleted it proposes the rest.
func (p *announcementPage) propose() (guilds.Proposal, error) {
	list := []jsontext.Value{}
	for _, a := range p.Guild.Announcements {
		list = append(list, properties.Encode(a))
	}
	rest := list[min(p.at+1, len(list)):]
	list = list[:p.at:p.at]
	if !p.deleted {
		list = append(list, properties.GivenAnnouncement(p.Fields))
	}
	proposal, wrong, err := guilds.Propose(p.Guild.Settings, guilds.Given{"announcements": properties.Encode(append(list, rest...))})
	for _, w := range wrong.Faults {
		p.refuse(w)
	}
	return proposal, err
}

func (s *Site) announcementForm(c *gin.Context, g *guild.Guild, sent *form) error {
	page, err := announcementOf(g, c.Param("announcementId"), sent.Value("kind"))
	if err != nil {
		return err
	}
	return s.showAnnouncement(c, page)
}

func (s *Site) showAnnouncement(c *gin.Context, page *announcementPage) error {
	pageOf(c).secret = true // the address, as it was typed
	status := page.Refused.status()
	if page.Conflict {
		status = http.StatusConflict
	}
	return s.show(c, status, "announcement", "Announcement of "+page.Guild.Name, page)
}

// useAnnouncement judges the form and shows what it would post, or saves it in the place of what is saved, unless that was changed since the
// form was opened. A form that was sent twice wants what is saved already.
func (s *Site) useAnnouncement(c *gin.Context, page *announcementPage, save bool) error {
	ctx := c.Request.Context()
	p, err := page.propose()
	switch now := page.saved(); {
	case err != nil:
		return err
	case page.Refused.bad():
		return s.showAnnouncement(c, page)
	case !save:
		page.Checked = true
		if page.Preview, err = s.deps.Announcements.Preview(ctx, page.Guild, &p.Settings().Announcements[page.at]); err != nil {
			return err
		}
		return s.showAnnouncement(c, page)
	case !page.deleted && page.Fields["seen"] != now && !guild.Same(page.Guild.Settings, p.Settings()):
		page.Fields["seen"], page.Conflict = now, true
		return s.showAnnouncement(c, page)
	}
	_, err = s.deps.Settings.Save(ctx, page.Guild, p)
	if errors.Is(err, guild.ErrChanged) {
		if page.Guild, err = s.deps.Settings.Read(ctx, guilds.Manager, page.Guild.ID); err != nil {
			return err
		}
		page.find(page.Fields["id"])
		return s.useAnnouncement(c, page, save)
	}
	if f := fault.From(err); f != nil && (f.Code == fault.Invalid || f.Code == fault.TooLarge) {
		page.refuse(f)
		return s.showAnnouncement(c, page)
	}
	return toAnnouncements(c, page.Guild, map[bool]string{false: "saved", true: "deleted"}[page.deleted], err)
}
