package web

import (
	"fmt"
	"slices"
	"strings"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// The fields where a channel or a role of the guild's directory is chosen.
const (
	addChannel, addRole = "ignoredChannelIds[add]", "ignoredRoleIds[add]"
	addProperty         = "add" // of a row
)

// areas are the text areas of rows that what is chosen goes to.
var areas = map[string]string{roleRewards: "roles", multipliers: "targets"}

// choices are the lines that a text area may be given: those of channels or of roles.
type choices struct{ channels, roles []string }

func choicesOf(d guild.Directory) (c choices) {
	for _, channel := range d.Channels {
		c.channels = append(c.channels, choice(channel.ID, channel.Name))
	}
	for _, role := range d.Roles {
		c.roles = append(c.roles, choice(role.ID, role.Name))
	}
	return c
}

func choice[T id.Channel | id.Role](target T, name string) string {
	return strings.TrimSpace(targetLine(target, name))
}

// of are the choices for a row of a list.
func (c choices) of(list string, row formRow) []string {
	if ofRoles(list, row) {
		return c.roles
	}
	return c.channels
}

// ofRoles reports whether the row of a list names roles, and not channels.
func ofRoles(list string, row formRow) bool {
	return list == roleRewards || row["type"] == string(guild.RoleMultiplier)
}

// choose moves what was chosen into the text areas.
func (p *settingsPage) choose() {
	f, c := p.Form, choicesOf(p.Directory)
	for from, offered := range map[string][]string{addChannel: c.channels, addRole: c.roles} {
		area, _, _ := strings.Cut(from, "[")
		if line, ok := p.chosen(from, f.Fields[from], offered); ok {
			f.Fields[area], f.Fields[from] = withLine(f.Fields[area], ignoredLine(line)), ""
		}
	}
	for list, area := range areas {
		for i, row := range f.Rows[list] {
			if line, ok := p.chosen(fmt.Sprintf("%s[%d].%s", list, i, addProperty), row[addProperty], c.of(list, row)); ok {
				row[area], row[addProperty] = withLine(row[area], line), ""
			}
		}
	}
}

// chosen is the line for what was chosen or typed: one that is offered, its id, its name when no other one has that, or any other id. It
// is false for nothing and, with an error beside the field, for anything else.
func (p *settingsPage) chosen(field, text string, offered []string) (line string, ok bool) {
	text = oneLine(text)
	var named []string
	for _, line := range offered {
		target, name, _ := strings.Cut(line, " ")
		if line == text || target == text {
			return line, true
		}
		if strings.EqualFold(name, text) {
			named = append(named, line)
		}
	}
	target, _, _ := strings.Cut(text, " ")
	switch {
	case text == "":
		return "", false
	case len(named) == 1:
		return named[0], true
	case len(named) > 1:
		p.refuse(field, "Several items have this name. Choose one from the list.")
		return "", false
	case !id.Valid(target):
		p.refuse(field, "Nothing has this name. Choose from the list, or clear this field.")
		return "", false
	}
	return text, true
}

// withLine appends a line, unless one with its id is there.
func withLine(text, line string) string {
	target, _, _ := strings.Cut(line, " ")
	if slices.ContainsFunc(namedLines(text), func(w writtenID) bool { return w.ID == target }) {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + line + "\n"
}

// option is what a list to choose from offers: a name, which settings.js turns into a line with the id. A name that does not say which one is
// meant stands in a whole line, and has no ID here.
type option struct{ Value, ID string }

// Channels and Roles are the options of the lists to choose from.
func (p *settingsPage) Channels() []option { return optionsOf(choicesOf(p.Directory).channels) }

// Roles are as Channels.
func (p *settingsPage) Roles() []option { return optionsOf(choicesOf(p.Directory).roles) }

func optionsOf(lines []string) []option {
	named := map[string]int{}
	for _, line := range lines {
		_, name, _ := strings.Cut(line, " ")
		named[strings.ToLower(name)]++
	}
	list := make([]option, len(lines))
	for i, line := range lines {
		list[i] = option{Value: line}
		if target, name, _ := strings.Cut(line, " "); name != "" && named[strings.ToLower(name)] == 1 && ignoredLine(line) == line && !id.Valid(name) {
			list[i] = option{Value: name, ID: target}
		}
	}
	return list
}

// Choose makes the input where an item for a text area of ids is chosen; nil when the directory has none.
func (p *settingsPage) Choose(name, kind string) *field {
	area, _, _ := strings.Cut(name, "[")
	return p.chooser(p.Field(name, "Add a "+kind, ""), kind == "role", fieldID(area))
}

// ChooseRow is Choose for a row of a list.
func (p *settingsPage) ChooseRow(list string, row int) *field {
	area := p.Row(list, row, areas[list], "").ID
	if ofRoles(list, p.Form.Rows[list][row]) {
		return p.chooser(p.Row(list, row, addProperty, "Add a role"), true, area)
	}
	return p.chooser(p.Row(list, row, addProperty, "Add a channel"), false, area)
}

func (p *settingsPage) chooser(f field, roles bool, area string) *field {
	f.Into = area
	f.List, f.Hint = "channels", "Choose a name, or type an ID."
	if roles {
		f.List = "roles"
	}
	if roles && len(p.Directory.Roles) == 0 || !roles && len(p.Directory.Channels) == 0 {
		return nil
	}
	return &f
}

// ignoredLines are ids, one a line, with the names that the directory has for them.
func ignoredLines[T id.Channel | id.Role](ids []T, offered []string) (lines string) {
	names := make(map[string]string, len(offered))
	for _, line := range offered {
		target, name, _ := strings.Cut(line, " ")
		names[target] = name
	}
	for _, ignored := range ids {
		lines += ignoredLine(strings.TrimSpace(string(ignored)+" "+names[string(ignored)])) + "\n"
	}
	return lines
}

// ignoredLine is a line without its name when that would be read as one more id (idsOfLines).
func ignoredLine(line string) string {
	if len(idsOfLines(line)) > 1 {
		line, _, _ = strings.Cut(line, " ")
	}
	return line
}
