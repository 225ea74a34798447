package web

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/guildsettings"
)

// settingsProperties are what a manager sets of a guild's document, in the order of the page, with their labels there, and how the form's
// text becomes the document's value, which guildsettings.Propose judges.
var settingsProperties = []struct {
	name, label string
	inDocument  func(f settingsForm, text string, page *settingsPage) any
}{
	{"enabled", "Leveling", func(_ settingsForm, text string, _ *settingsPage) any { return text != "" }},
	{"visibility", "Leaderboard visibility", asText},
	{"embedding", "Embedding", func(_ settingsForm, text string, _ *settingsPage) any { return text != "" }},
	{"vanity", "Short name", func(_ settingsForm, text string, _ *settingsPage) any { return orNull(strings.TrimSpace(text)) }},
	{"curve", "Curve", func(f settingsForm, _ string, _ *settingsPage) any { return f.curve() }},
	{cooldown, "XP cooldown", asCooldown},
	{"xpPerMessageMin", "Minimum XP per message", asNumber},
	{"xpPerMessageMax", "Maximum XP per message", asNumber},
	{"xpGlobalMultiplier", "Global multiplier", asNumber},
	{"ignoredChannelIds", "Ignored channels", asIDs},
	{"ignoredRoleIds", "Ignored roles", asIDs},
	{"ignoredUserIds", "Ignored members", asIDs},
	{multipliers, "Multipliers", func(f settingsForm, _ string, page *settingsPage) any { return f.multipliers(page.targets()) }},
	{roleRewards, "Role rewards", func(f settingsForm, _ string, page *settingsPage) any { return f.roleRewards(page.targets()) }},
	{"timeZone", "Time zone", func(_ settingsForm, text string, _ *settingsPage) any { return strings.TrimSpace(text) }},
	{"periods", "Period leaderboards", func(f settingsForm, _ string, page *settingsPage) any { return f.periods(page.Guild) }},
	{seasons, "Seasons", func(f settingsForm, _ string, _ *settingsPage) any { return f.seasons() }},
}

// given is what the form sets.
func (p *settingsPage) given() guildsettings.Given {
	given := guildsettings.Given{}
	for _, property := range settingsProperties {
		given[property.name] = encode(property.inDocument(p.Form, p.Form.Fields[property.name], p))
	}
	return given
}

func asText(_ settingsForm, text string, _ *settingsPage) any { return text }

func asNumber(_ settingsForm, text string, _ *settingsPage) any { return number(text) }

func asCooldown(f settingsForm, text string, _ *settingsPage) any {
	if ms, ok := f.cooldown(); ok {
		return ms
	}
	return text
}

// asIDs are the ids of a text area whose names are not kept.
func asIDs(_ settingsForm, text string, _ *settingsPage) any {
	list := []string{}
	for _, written := range idsOfLines(text) {
		list = append(list, written.ID)
	}
	return list
}

// curve is a preset's name, or coefficients up to the last one that is not empty.
func (f settingsForm) curve() any {
	if f.Fields["curve"] != ownCurve {
		return f.Fields["curve"]
	}
	coefficients := f.Coefficients()
	given := coefficients[:]
	for len(given) > 0 && strings.TrimSpace(given[len(given)-1]) == "" {
		given = given[:len(given)-1]
	}
	list := []jsontext.Value{}
	for _, c := range given {
		list = append(list, number(c))
	}
	return list
}

func (f settingsForm) multipliers(saved targets) any {
	list := []any{}
	for _, m := range f.Rows[multipliers] {
		targets := saved.read(m["id"], m["type"] == string(guild.RoleMultiplier), m["targets"])
		list = append(list, withID(m["id"], map[string]any{"type": m["type"], "multiplier": number(m["multiplier"]), "targets": targets}))
	}
	return list
}

func (f settingsForm) roleRewards(saved targets) any {
	list := []any{}
	for _, r := range f.Rows[roleRewards] {
		list = append(list, withID(r["id"], map[string]any{"level": number(r["level"]), "stack": r["stack"] != "", "roles": saved.read(r["id"], true, r["roles"])}))
	}
	return list
}

// withID leaves a new row's id out, so that it gets one.
func withID(id string, row map[string]any) map[string]any {
	if id != "" {
		row["id"] = id
	}
	return row
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// number passes a number on as it was written, for the document's rules to judge; anything else becomes a string, which they reject.
func number(text string) jsontext.Value {
	text = strings.TrimSpace(text)
	if text != "" && strings.Trim(text, "0123456789.eE+-") == "" && jsontext.Value(text).IsValid() {
		return jsontext.Value(text)
	}
	return encode(text)
}

// encode writes what has no way to fail: text, numbers, lists and maps of them.
func encode(value any) jsontext.Value {
	encoded, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return jsontext.Value("null")
	}
	return encoded
}

// target is a channel or a role in the guild's document. What the form has no place for stays as it was saved.
type target struct {
	ID       string      `json:"id"`
	Name     *string     `json:"name,omitzero"` // nil: the line has none
	ParentID *id.Channel `json:"parentId,omitzero"`
	Color    *int        `json:"color,omitzero"`
	Position int         `json:"position,omitzero"`
	Type     int         `json:"type,omitzero"`
}

// targets are those that are saved, and those of the directory, by the row that they are in ("" for any row), whether they are roles, and their id.
type targets map[targetKey]target

type targetKey struct {
	row   string
	roles bool
	id    string
}

func (p *settingsPage) targets() targets {
	saved, g := targets{}, p.Guild
	add := func(row string, roles bool, t target) {
		saved[targetKey{row, roles, t.ID}], saved[targetKey{"", roles, t.ID}] = t, t
	}
	roles := func(row string, list []guild.Role) {
		for _, r := range list {
			add(row, true, target{ID: string(r.ID), Name: &r.Name, Color: r.Color, Position: r.Position})
		}
	}
	channels := func(row string, list []guild.Channel) {
		for _, c := range list {
			add(row, false, target{ID: string(c.ID), Name: &c.Name, ParentID: c.ParentID, Position: c.Position, Type: c.Type})
		}
	}
	for _, m := range g.Multipliers {
		roles(string(m.ID), m.Roles)
		channels(string(m.ID), m.Channels)
	}
	for _, r := range g.RoleRewards {
		roles(string(r.ID), r.Roles)
	}
	roles("", p.Directory.Roles)
	channels("", p.Directory.Channels)
	return saved
}

// read reads the lines of a row.
func (saved targets) read(row string, roles bool, text string) []target {
	list := []target{}
	for _, written := range namedLines(text) {
		t, ok := saved[targetKey{row, roles, written.ID}]
		if !ok {
			t = saved[targetKey{"", roles, written.ID}]
		}
		t.ID = written.ID
		// A name that a line cannot hold as it is was not changed by having been shown on one.
		if name := written.Name; name != "" && (t.Name == nil || oneLine(*t.Name) != oneLine(name)) {
			t.Name = &name
		}
		list = append(list, t)
	}
	return list
}

// difference is a property that is saved otherwise than a form has it.
type difference struct{ Label, Saved, Mine string }

// differences compares what is saved with what a form would save.
func differences(saved, mine settingsForm) []difference {
	found := []difference{}
	for _, p := range settingsProperties {
		if a, b := saved.inWords(p.name), mine.inWords(p.name); a != b {
			found = append(found, difference{p.label, shortened(a), shortened(b)})
		}
	}
	return found
}

// inWords is what the form says of a property.
func (f settingsForm) inWords(property string) string {
	var text strings.Builder
	switch property {
	case "enabled", "embedding":
		return map[bool]string{true: "on", false: "off"}[f.Fields[property] != ""]
	case cooldown:
		return f.cooldownInWords()
	case "curve":
		if f.Fields[property] == ownCurve {
			coefficients := f.Coefficients()
			return strings.TrimSpace(strings.Join(coefficients[:], " "))
		}
	case multipliers:
		for _, m := range f.Rows[property] {
			fmt.Fprintf(&text, "%s × %s: %s", m["type"], m["multiplier"], m["targets"])
		}
		return text.String()
	case roleRewards:
		for _, r := range f.Rows[property] {
			stays := ""
			if r["stack"] == "" {
				stays = " (not kept)"
			}
			fmt.Fprintf(&text, "Level %s%s: %s", r["level"], stays, r["roles"])
		}
		return text.String()
	case "periods":
		return strings.Join(f.ticked(), ", ")
	case seasons:
		for _, s := range f.Rows[property] {
			fmt.Fprintf(&text, "%s, %s, from %s to the day before %s\n", s["id"], s["name"], s["start"], s["end"])
		}
		return text.String()
	}
	return f.Fields[property]
}

// shortened keeps a list of two hundred roles from filling the page.
func shortened(s string) string {
	runes := []rune(strings.TrimSpace(s))
	if len(runes) > 300 {
		return string(runes[:300]) + " …"
	}
	if len(runes) == 0 {
		return "empty"
	}
	return string(runes)
}
