package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
	Fields   map[string]string // as text, right or wrong, named as in the guild's document; a box not ticked is empty
	Errors   map[string]string // by field, "" for the whole form
	Checked  bool              // just now, and nothing is wrong
	Preview  string            // what would be posted, when it was checked
	Conflict bool              // it was saved otherwise since this form was opened
	deleted  bool              // it is about to be
	at       int               // its place among the guild's, one past the last for a new one
}

// newAnnouncement is in the address of the form in place of an id.
const newAnnouncement = "new"

// announcementOf is the form of a saved announcement, or of a new one of a kind. A new one has its id already: a form that is sent twice saves
// one announcement.
func announcementOf(g *guild.Guild, wanted, kind string) (*announcementPage, error) {
	page := &announcementPage{Guild: g, Errors: map[string]string{}}
	if page.find(wanted); !page.New() {
		page.fill(g.Announcements[page.at])
		return page, nil
	}
	if wanted != newAnnouncement {
		return nil, fault.New(fault.NotFound, "There is no such announcement. It may have been deleted.")
	}
	a := announcement.Announcement{ID: uuid.NewString(), Kind: announcement.Kind(kind), Top: 10}
	if kindOf(a.Kind) == "" {
		a.Kind = announcement.Discord
	}
	a.SetDefaults()
	page.fill(a)
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

// Kind is the announcement's, and KindName what the page calls it.
func (p *announcementPage) Kind() announcement.Kind { return announcement.Kind(p.Fields["kind"]) }
func (p *announcementPage) KindName() string        { return kindOf(p.Kind()) }

// fill fills the form with an announcement.
func (p *announcementPage) fill(a announcement.Announcement) {
	levels := make([]string, len(a.Levels))
	for i, l := range a.Levels {
		levels[i] = fmt.Sprint(l)
	}
	p.Fields = map[string]string{
		"id": a.ID, "kind": string(a.Kind), "name": a.Name, "url": a.URL.Shown(), "text": text(a.Text), "from": fmt.Sprint(a.From),
		"every": fmt.Sprint(a.Every), "levels": strings.Join(levels, ", "), "onlyWithRoles": ticked(a.OnlyWithRoles), "mention": ticked(a.Mention),
		"period": text(a.Period), "top": fmt.Sprint(a.Top), "seen": p.saved(),
	}
	for _, e := range a.Events {
		p.Fields[eventBox(e)] = ticked(true)
	}
}

func eventBox(e announcement.Event) string { return "events." + string(e) }

// saved stands for the announcement as it is saved now; it is empty for a new one.
func (p *announcementPage) saved() string {
	if p.New() {
		return ""
	}
	sum := sha256.Sum256(properties.Encode(p.Guild.Announcements[p.at]))
	return hex.EncodeToString(sum[:])
}

// read takes what was sent. The kind stays, and the id of a saved announcement.
func (p *announcementPage) read(sent url.Values) {
	kept := p.Fields
	p.Fields = map[string]string{}
	for name := range sent {
		p.Fields[name] = strings.ReplaceAll(sent.Get(name), "\r\n", "\n")
	}
	p.Fields["kind"] = kept["kind"]
	if !p.New() {
		p.Fields["id"] = kept["id"]
	}
	p.find(p.Fields["id"])
}

// inDocument is the announcement in the form as the guild's document has it, for guilds.Propose to judge.
func (p *announcementPage) inDocument() jsontext.Value {
	f := p.Fields
	a := map[string]any{"id": f["id"], "kind": f["kind"], "name": strings.TrimSpace(f["name"])}
	if p.Kind() != announcement.Bot {
		a["url"] = orNull(strings.TrimSpace(f["url"]))
	}
	if p.Kind() == announcement.Board {
		a["period"], a["top"] = orNull(f["period"]), properties.Numeric(f["top"])
		return properties.Encode(a)
	}
	on := []announcement.Event{}
	for _, e := range p.Events() {
		if f[e.Value] != "" {
			on = append(on, announcement.Event(strings.TrimPrefix(e.Value, eventBox(""))))
		}
	}
	a["events"] = on
	if p.Posts() {
		levels := []jsontext.Value{}
		for _, one := range strings.FieldsFunc(f["levels"], func(r rune) bool { return strings.ContainsRune(" \t\u00a0,;", r) }) {
			levels = append(levels, properties.Numeric(one))
		}
		a["text"], a["from"], a["every"], a["levels"] = orNull(f["text"]), properties.Numeric(f["from"]), properties.Numeric(f["every"]), levels
		a["onlyWithRoles"], a["mention"] = f["onlyWithRoles"] != "", f["mention"] != ""
	}
	return properties.Encode(a)
}

// Posts reports whether the announcement has words and conditions.
func (p *announcementPage) Posts() bool {
	return p.Kind() == announcement.Discord || p.Kind() == announcement.Bot
}

// Events are the boxes of the events that the announcement can be for.
func (p *announcementPage) Events() []menuItem {
	boxes := []menuItem{{eventBox(announcement.LevelUp), "Level-ups"}, {eventBox(announcement.PeriodOf), "Winners of a period that is over"}}
	if p.Kind() == announcement.Webhook {
		boxes = append(boxes, menuItem{eventBox(announcement.LevelDown), "Level-downs"}, menuItem{eventBox(announcement.Removed), "Members who leave the board"},
			menuItem{eventBox(announcement.Returned), "Members who return to it"}, menuItem{eventBox(announcement.Reset), "Changes of the whole board, such as imports"})
	}
	return boxes
}

// Periods are what a board can be of.
func (p *announcementPage) Periods() []menuItem {
	return []menuItem{{"", "All time"}, {"day", "Day"}, {"week", "Week"}, {"month", "Month"}, {"season", "Season"}}
}

// announcementLabels are what the page calls the fields.
var announcementLabels = map[string]string{
	"name": "Name", "url": "Webhook address", "events": "Events", "text": "Text", "from": "From level", "every": "Every so many levels",
	"levels": "Only these levels", "period": "Leaderboard", "top": "Members",
}

// Label is what the page calls a field, and empty for what it does not show.
func (*announcementPage) Label(name string) string { return announcementLabels[name] }

// Field makes the input of that name.
func (p *announcementPage) Field(name, hint string) field {
	return field{Name: name, ID: fieldID(name), Label: p.Label(name), Value: p.Fields[name], Hint: hint, Wrong: p.Errors[name], Shape: map[string]string{"text": "area"}[name]}
}

// refuse puts what is wrong beside its field.
func (p *announcementPage) refuse(w *fault.Error) {
	message := strings.TrimSuffix(strings.TrimSuffix(w.Rule(), "."), ", not a string") // every field is text
	property, ours := strings.CutPrefix(w.Path, fmt.Sprintf("announcements[%d].", p.at))
	property, item, listed := strings.Cut(property, "[")
	if !ours || p.Label(property) == "" {
		property = ""
	} else if n, err := strconv.Atoi(strings.TrimSuffix(item, "]")); listed && err == nil {
		message = fmt.Sprintf("entry %d: %s", n+1, message)
	}
	if p.Errors[property] == "" {
		p.Errors[property] = sentence(message)
	}
}

// propose judges the form, and puts what is wrong beside its fields; of what is deleted it proposes the rest.
func (p *announcementPage) propose() (guilds.Proposal, error) {
	list := []jsontext.Value{}
	for _, a := range p.Guild.Announcements {
		list = append(list, properties.Encode(a))
	}
	switch {
	case p.deleted:
		list = slices.Delete(list, p.at, min(p.at+1, len(list)))
	case p.New():
		list = append(list, p.inDocument())
	default:
		list[p.at] = p.inDocument()
	}
	proposal, wrong, err := guilds.Propose(p.Guild.Settings, guilds.Given{"announcements": properties.Encode(list)})
	for _, w := range wrong.Faults {
		p.refuse(w)
	}
	return proposal, err
}

func (s *Site) announcementForm(c *gin.Context) error {
	g, err := s.managedGuild(c)
	if err != nil {
		return err
	}
	page, err := announcementOf(g, c.Param("announcementId"), c.Query("kind"))
	if err != nil {
		return err
	}
	return s.showAnnouncement(c, http.StatusOK, page)
}

func (s *Site) showAnnouncement(c *gin.Context, status int, page *announcementPage) error {
	pageOf(c).secret = true // the address, as it was typed
	return s.show(c, status, "announcement", "Announcement of "+page.Guild.Name, page)
}

// saveAnnouncement saves the form in the place of what is saved, unless that was changed since the form was opened. A form that was sent twice
// wants what is saved already.
func (s *Site) saveAnnouncement(c *gin.Context, page *announcementPage) error {
	p, err := page.propose()
	if err != nil {
		return err
	}
	if len(page.Errors) > 0 {
		return s.showAnnouncement(c, http.StatusUnprocessableEntity, page)
	}
	if now := page.saved(); !page.deleted && page.Fields["seen"] != now && !guild.Same(page.Guild.Settings, p.Settings()) {
		page.Fields["seen"], page.Conflict = now, true
		return s.showAnnouncement(c, http.StatusConflict, page)
	}
	_, err = s.deps.Settings.Save(c.Request.Context(), page.Guild, p)
	if errors.Is(err, guild.ErrChanged) {
		if page.Guild, err = s.deps.Settings.Read(c.Request.Context(), guilds.Manager, page.Guild.ID); err != nil {
			return err
		}
		page.find(page.Fields["id"])
		return s.saveAnnouncement(c, page)
	}
	if f := fault.From(err); f != nil && (f.Code == fault.Invalid || f.Code == fault.TooLarge) {
		page.refuse(f)
		return s.showAnnouncement(c, http.StatusUnprocessableEntity, page)
	}
	return toAnnouncements(c, page.Guild, map[bool]string{false: "saved", true: "deleted"}[page.deleted], err)
}

// previewAnnouncement judges the form without saving it, and shows what it would post.
func (s *Site) previewAnnouncement(c *gin.Context, page *announcementPage) error {
	p, err := page.propose()
	if err != nil {
		return err
	}
	if len(page.Errors) > 0 {
		return s.showAnnouncement(c, http.StatusUnprocessableEntity, page)
	}
	page.Checked = true
	if page.Preview, err = s.deps.Announcements.Preview(c.Request.Context(), page.Guild, &p.Settings().Announcements[page.at]); err != nil {
		return err
	}
	return s.showAnnouncement(c, http.StatusOK, page)
}
