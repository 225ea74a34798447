package properties

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"levelboard/internal/domain/announcement"
)

// announcementFields are the properties of an announcement, in the order of its form.
var announcementFields = []Property{
	{Name: "id", Label: "ID", Kind: hidden{}},
	{Name: "kind", Label: "Kind", Kind: hidden{}},
	{Name: "name", Label: "Name", Hint: "1 to 100 characters. Only managers see it.", Kind: text{}},
	{Name: "url", Label: "Webhook address", Hint: "It is a secret, so it is not shown again. Leave it as it is to keep it.", Kind: text{optional: true}},
	{Name: "period", Label: "Leaderboard", Kind: choice{text: text{optional: true}, Options: []Option{
		{"", "All time"}, {"day", "Day"}, {"week", "Week"}, {"month", "Month"}, {"season", "Season"},
	}}},
	{Name: "top", Label: "Members", Hint: "3 to 25.", Kind: number{whole: true}},
	{Name: "events", Label: "Events", Kind: ticks{Options: []Option{
		{string(announcement.LevelUp), "Level-ups"}, {string(announcement.PeriodOf), "Winners of a period that is over"},
		{string(announcement.LevelDown), "Level-downs"}, {string(announcement.Removed), "Members who leave the board"},
		{string(announcement.Returned), "Members who return to it"}, {string(announcement.Reset), "Changes of the whole board, such as imports"},
	}}},
	{Name: "text", Label: "Text", Kind: text{optional: true, area: true}, Hint: "Empty for the usual words. " +
		"{user} {name} {level} {previousLevel} {xp} {rank} {roles} {guild} stand for what they say, and {period} {first} {second} {third} for a period that is over. " +
		"{#roles}New: {roles}{/roles} is shown only if there are roles, {^roles}…{/roles} only if there are none, {#level.10}…{/level.10} only at level 10. {{ is a brace."},
	{Name: "mention", Label: "Mention", Hint: "{user} mentions the member", Kind: box{}},
	{Name: "from", Label: "From level", Hint: "1 to 10000.", Kind: number{whole: true}},
	{Name: "every", Label: "Every so many levels", Hint: "1 for each level, 5 for 5, 10, 15 and so on.", Kind: number{whole: true}},
	{Name: "levels", Label: "Only these levels", Hint: "Optional, up to 100, with commas between them. They replace “every”.", Kind: numbers{}},
	{Name: "onlyWithRoles", Label: "Only with roles", Hint: "Only level-ups that give roles", Kind: box{}},
}

// ofKind are the properties that an announcement has in a form, by its kind. Only a webhook gets more events than the first two.
func ofKind(row map[string]string) (list []Property) {
	kind := announcement.Kind(row["kind"])
	leftOut := map[announcement.Kind][]string{
		announcement.Discord: {"period", "top"},
		announcement.Bot:     {"period", "top", "url"},
		announcement.Webhook: {"period", "top", "text", "mention", "from", "every", "levels", "onlyWithRoles"},
		announcement.Board:   {"events", "text", "mention", "from", "every", "levels", "onlyWithRoles"},
	}[kind]
	for _, p := range announcementFields {
		if events, ok := p.Kind.(ticks); ok && kind != announcement.Webhook {
			p.Kind = ticks{events.Options[:2]}
		}
		if !slices.Contains(leftOut, p.Name) {
			list = append(list, p)
		}
	}
	return list
}

// newAnnouncement is one of that kind. It has its id already, so a form that is sent twice saves one announcement.
func newAnnouncement(kind string) any {
	a := announcement.Announcement{ID: uuid.NewString(), Kind: announcement.Kind(kind), Top: 10}
	a.SetDefaults()
	return a
}

// announcementInWords leaves out the address, which is a secret while it is typed.
func announcementInWords(w map[string]string) string {
	words := w["name"] + ", " + w["kind"]
	for _, p := range ofKind(w) {
		if said := w[p.Name]; said != "" && said != off && !slices.Contains([]string{"id", "name", "kind", "url"}, p.Name) {
			words += "; " + strings.ToLower(p.Label) + ": " + said
		}
	}
	return words
}

// numbers are whole numbers with commas or spaces between them.
type numbers struct{ number }

func (n numbers) fill(f Form, name string, value jsontext.Value, k *Known) {
	f.Fields[name] = n.words(value, k)
}

func (numbers) read(f Form, name string, _ jsontext.Value, _ *Known) any {
	list := []jsontext.Value{}
	for _, one := range strings.FieldsFunc(f.Fields[name], isSpace) {
		list = append(list, Numeric(one))
	}
	return list
}

func (numbers) words(value jsontext.Value, _ *Known) string {
	var list []string
	for _, one := range decode[[]jsontext.Value](value) {
		list = append(list, plain(one))
	}
	return strings.Join(list, ", ")
}
