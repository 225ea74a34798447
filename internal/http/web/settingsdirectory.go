package web

import (
	"strings"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
)

// choose moves the chosen items into their text areas.
func (p *settingsPage) choose() {
	for _, property := range properties.Table {
		if lined, ok := property.Kind.(properties.Lined); ok {
			p.chooseIn(lined, property.Name, property.Name+properties.AddSuffix, property.Name+properties.AddSuffix, p.Form.Fields)
		}
		rows, _ := property.Kind.(properties.Rows)
		for _, one := range rows.Fields {
			lined, ok := one.Kind.(properties.Lined)
			for i, row := range p.Form.Rows[property.Name] {
				if ok {
					p.chooseIn(lined, one.Name, properties.AddProperty, properties.Field(property.Name, i, properties.AddProperty), row)
				}
			}
		}
	}
}

// chooseIn moves the item chosen in values[from], in the field of that name, into the text area values[area].
func (p *settingsPage) chooseIn(kind properties.Lined, area, from, field string, values map[string]string) {
	if line, ok := p.chosen(field, values[from], properties.Choices(p.Directory, kind.Names(values))); ok {
		values[area], values[from] = properties.Added(kind, values[area], line), ""
	}
}

// chosen returns the line for what was chosen or typed: an offered line, its id, its name if no other offered line has
// that name, or any other id. ok is false for an empty text and, with an error beside the field, for any other text.
func (p *settingsPage) chosen(field, text string, offered []properties.Line) (line properties.Line, ok bool) {
	text = strings.Join(strings.Fields(text), " ")
	var named []properties.Line
	for _, line := range offered {
		if text == line.ID || text == strings.TrimSpace(line.ID+" "+line.Name) {
			return line, true
		}
		if strings.EqualFold(line.Name, text) {
			named = append(named, line)
		}
	}
	line.ID, line.Name, _ = strings.Cut(text, " ")
	switch {
	case text == "":
		return line, false
	case len(named) == 1:
		return named[0], true
	case len(named) > 1:
		p.refuse(field, "Several items have this name. Choose one from the list.")
		return line, false
	case !id.Valid(line.ID):
		p.refuse(field, "Nothing has this name. Choose from the list, or clear this field.")
		return line, false
	}
	return line, true
}

// Lists returns the options of the lists to choose from, by the lists' ids. An option is a name, which settings.js turns
// into a line with the id. A name that several items have, or that looks like an id, is shown as a whole line instead.
func (p *settingsPage) Lists() map[string][]properties.Option {
	lists := map[string][]properties.Option{}
	for _, of := range []properties.Of{properties.Channels, properties.Roles} {
		lines, named := properties.Choices(p.Directory, of), map[string]int{}
		for _, line := range lines {
			named[strings.ToLower(line.Name)]++
		}
		for _, line := range lines {
			option := properties.Option{Value: line.Name, Label: line.ID}
			if named[strings.ToLower(line.Name)] > 1 || line.Ambiguous() {
				option = properties.Option{Value: strings.TrimSpace(line.ID + " " + line.Name)}
			}
			lists[string(of)+"s"] = append(lists[string(of)+"s"], option)
		}
	}
	return lists
}

// chooser makes the field to choose an item for a text area. It returns nil if the directory has none.
func (p *settingsPage) chooser(name string, of properties.Of, area string, values map[string]string) *field {
	if len(properties.Choices(p.Directory, of)) == 0 {
		return nil
	}
	typed := values[name]
	if strings.HasSuffix(name, "."+properties.AddProperty) {
		typed = values[properties.AddProperty]
	}
	f := named(name, "Add a "+string(of), "Choose a name, or type an ID.", typed, p.Refused)
	f.Into, f.List = area, string(of)+"s"
	return &f
}
