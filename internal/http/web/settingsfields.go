package web

import (
	"strings"

	"levelboard/internal/domain/level"
	"levelboard/internal/domain/properties"
)

// settingsSection is a section of the page with its fields.
type settingsSection struct {
	properties.Section
	Fields []settingsField
}

// settingsField is a property on the page: a field, or a list of rows.
type settingsField struct {
	field
	Section string // the id of its section
	Rows    []settingsRow
	Heading bool                // the list has a heading of its own
	Columns []string            // of the rows
	Noun    string              // the name of a row
	Add     []properties.Option // the buttons that add a row
	Next    string              // the id of the first field of the next row
}

// One is the name of a row in a sentence.
func (f settingsField) One() string { return strings.ToLower(f.Noun) }

// None is the name of the rows in "no ...".
func (f settingsField) None() string { return strings.ToLower(f.Label) }

// settingsRow is a row of a list.
type settingsRow struct {
	Hidden, Fields []field
	Announcement   *announcementRow // nil in other lists
}

// Sections returns what managers can set, with the values of the form.
func (p *settingsPage) Sections() (list []settingsSection) {
	for _, section := range properties.Sections {
		shown := settingsSection{Section: section}
		for _, property := range properties.Table {
			if property.Section == section.ID {
				shown.Fields = append(shown.Fields, p.settingsField(property, section))
			}
		}
		list = append(list, shown)
	}
	return list
}

func (p *settingsPage) settingsField(property properties.Property, section properties.Section) settingsField {
	f := settingsField{field: p.field(property, property.Name, p.Form.Fields), Section: section.ID, Heading: property.Label != section.Title}
	rows, ok := property.Kind.(properties.Rows)
	if !ok {
		return f
	}
	announces := property.Name == "announcements"
	f.Noun, f.Add, f.Next = rows.Noun, rows.Add, fieldID(p.Form.Next(property))
	for _, one := range rows.Fields {
		if one.Kind.Shape() != "hidden" {
			f.Columns = append(f.Columns, one.Label)
		}
	}
	for i, values := range p.Form.Rows[property.Name] {
		row := settingsRow{}
		for _, one := range rows.Of(values) {
			shown := p.field(one, properties.Field(property.Name, i, one.Name), values)
			if shown.Shape == "hidden" {
				row.Hidden = append(row.Hidden, shown)
				continue
			}
			if place, _ := properties.PlaceOf(shown.Name); !announces {
				shown.Label = place.Label()
			}
			row.Fields = append(row.Fields, shown)
		}
		if announces {
			row.Announcement = p.announcementRow(values, row.Fields)
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// field makes the field of a property under that name. values are those of the property's row, or of the form.
func (p *settingsPage) field(property properties.Property, name string, values map[string]string) field {
	f := fieldFor(property, name, values, p.Refused)
	f.Unit, f.Focus = values[property.Name+properties.Unit], name == p.Focus
	if input, ok := property.Kind.(properties.Input); ok {
		f.Type, f.List = input.Input()
	}
	if lined, ok := property.Kind.(properties.Lined); ok {
		add, of := name+properties.AddSuffix, lined.Names(values)
		if list, _, ok := strings.Cut(name, "]."); ok {
			add = list + "]." + properties.AddProperty
		}
		f.Chooser = p.chooser(add, of, f.ID, values)
	}
	if f.Shape == "curve" {
		for i := range level.MaxCoefficients {
			f.Coefficients = append(f.Coefficients, named(properties.Coefficient(i), "abcde"[i:i+1], "", values[properties.Coefficient(i)], p.Refused))
		}
	}
	return f
}

// fieldFor makes the field of a property under that name, with the value in values and the errors in refused.
func fieldFor(property properties.Property, name string, values map[string]string, refused *form) field {
	f := named(name, property.Label, property.Hint, values[property.Name], refused)
	f.Shape, f.Options, f.Attributes = property.Kind.Shape(), properties.Options(property.Kind), "autocapitalize=none spellcheck=false"
	f.Ticked = func(value string) bool { return values[properties.BoxOf(property.Name, value)] != "" }
	if f.Shape == "box" && f.Hint != "" {
		f.Label, f.Hint = f.Hint, ""
	}
	return f
}

func named(name, label, hint, value string, refused *form) field {
	return field{Name: name, ID: fieldID(name), Label: label, Hint: hint, Value: value, Wrong: refused.Wrong(fieldID(name))}
}
