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

// settingsField is a property: a field, or a list of rows.
type settingsField struct {
	field
	Properties string // the section that it is in, by its id
	Rows       []settingsRow
	Heading    bool                // the list has a heading of its own
	Grid       bool                // fields of a row stand side by side
	Noun       string              // what a row is called
	Add        []properties.Option // the buttons that add one
	Next       string              // the id of the first field of the next row
	Ticked     map[string]bool     // of the options
}

// One is what a row is called in a sentence, and None what there are none of.
func (f settingsField) One() string { return strings.ToLower(f.Noun) }

// None is as One.
func (f settingsField) None() string { return strings.ToLower(f.Label) }

// settingsRow is a row of a list.
type settingsRow struct{ Hidden, Fields, Boxes []field }

// Sections are what managers can set, as the form has it.
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
	f := settingsField{field: p.field(property, property.Name, p.Form.Fields), Properties: section.ID, Heading: property.Label != section.Title, Ticked: map[string]bool{}}
	for _, o := range f.Options {
		f.Ticked[o.Value] = p.Form.Fields[properties.BoxOf(property.Name, o.Value)] != ""
	}
	rows, ok := property.Kind.(properties.Rows)
	if !ok {
		return f
	}
	f.Grid, f.Noun, f.Add, f.Next = rows.Grid, rows.Noun, rows.Add, fieldID(p.Form.Next(property))
	for i, values := range p.Form.Rows[property.Name] {
		row := settingsRow{}
		for _, one := range rows.Fields {
			shown := p.field(one, properties.Field(property.Name, i, one.Name), values)
			switch shown.Shape {
			case "hidden":
				row.Hidden = append(row.Hidden, shown)
			case "box":
				row.Boxes = append(row.Boxes, shown)
			default:
				row.Fields = append(row.Fields, shown)
			}
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// field is the field of a property with that name. values are those of its row, or of the form.
func (p *settingsPage) field(property properties.Property, name string, values map[string]string) field {
	f := p.named(name, property.Label, property.Hint, values[property.Name])
	f.Shape = property.Kind.Shape()
	f.Unit, f.Options = values[property.Name+properties.Unit], properties.Options(property.Kind)
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
			c := p.named(properties.Coefficient(i), "abcde"[i:i+1], "", values[properties.Coefficient(i)])
			c.ID, c.Wrong, c.Focus = fieldID(c.Name), f.Wrong, f.Focus && i == 0
			f.Coefficients = append(f.Coefficients, c)
		}
	}
	return f
}

func (p *settingsPage) named(name, label, hint, value string) field {
	return field{Name: name, ID: fieldID(name), Label: label, Hint: hint, Value: value, Wrong: p.Wrong(name), Focus: name == p.Focus}
}
