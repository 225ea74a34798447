package properties

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Rows is a list of rows. A row's fields are named LIST[0].PROPERTY.
type Rows struct {
	Noun    string   // the name of a row
	Add     []Option // the buttons that add a row
	Fields  []Property
	of      func(row map[string]string) []Property // those of Fields that a row has; nil for all
	added   func(argument string) any              // the values of a new row, by the button's argument; nil for none
	inWords func(w map[string]string) string       // a row in words, made of its properties' words
}

// object is a JSON object.
type object map[string]jsontext.Value

func (o object) copied() object { return maps.Clone(o) }

// Shape is as in Kind.
func (Rows) Shape() string { return "rows" }

// Field returns the name of a field in a row of the list.
func Field(list string, row int, property string) string {
	return fmt.Sprintf("%s[%d].%s", list, row, property)
}

func (r Rows) fill(f Form, name string, value jsontext.Value, k *Known) {
	f.Rows[name] = nil
	for _, row := range decode[[]object](value) {
		f.Rows[name] = append(f.Rows[name], r.fillRow(row, k))
	}
}

func (r Rows) fillRow(row object, k *Known) map[string]string {
	f := Form{Fields: map[string]string{}}
	for _, p := range r.Fields {
		if value, ok := row[p.Name]; ok {
			p.Kind.fill(f, p.Name, value, k)
		}
	}
	return f.Fields
}

// Of are the properties of a row.
func (r Rows) Of(row map[string]string) []Property {
	if r.of == nil {
		return r.Fields
	}
	return r.of(row)
}

func (r Rows) read(f Form, name string, saved jsontext.Value, k *Known) any {
	list, was := []object{}, decode[[]object](saved)
	for _, row := range f.Rows[name] {
		list = append(list, r.readRow(row, was, k))
	}
	return list
}

// readRow reads a row of the form; saved has all saved rows of the list.
func (r Rows) readRow(row map[string]string, saved []object, k *Known) object {
	var was object
	for _, one := range saved {
		// Do not reuse a row of another type: a role has no parent, and a channel no colour.
		if row["id"] != "" && plain(one["id"]) == row["id"] && plain(one["type"]) == row["type"] {
			was = one
		}
	}
	read := object{}
	for _, p := range r.Of(row) {
		value := p.Kind.read(Form{Fields: row}, p.Name, was[p.Name], k)
		if _, ok := value.(leftOut); !ok {
			read[p.Name] = Encode(value)
		}
	}
	return read
}

func (r Rows) words(value jsontext.Value, k *Known) string {
	return strings.Join(k.listed(r, value), "; ")
}

func (k *Known) rowWords(r Rows, row object) string {
	words := map[string]string{}
	for _, p := range r.Fields {
		words[p.Name] = p.Kind.words(row[p.Name], k)
	}
	return r.inWords(words)
}

// Place is the field of a form that belongs to a path of the document.
type Place struct {
	Property Property // of the document or of a row
	List     Property // the list of the row, if the path leads into a list; else empty
	Row      int      // its number in the list
	Field    string   // its name in the form
	Item     int      // the index in the property's value; -1 for the whole value
	Part     string   // the item's property, or empty
}

// PlaceOf finds the place of a path, such as roleRewards[0].roles[2].id. ok is false if Table has no such property.
func PlaceOf(path string) (p Place, ok bool) {
	name, rest := splitPath(path)
	p.Item = -1
	if p.Property, ok = ByName(name); !ok {
		return p, false
	}
	p.Field = name
	if rows, isRows := p.Property.Kind.(Rows); isRows {
		n, inRow, isRow := index(rest)
		if !isRow {
			return p, true
		}
		p.List, p.Row = p.Property, n
		property, ok := strings.CutPrefix(inRow, ".")
		if !ok {
			p.Field = fmt.Sprintf("%s[%d]", name, n)
			return p, true
		}
		property, rest = splitPath(property)
		if p.Property, ok = byName(rows.Fields, property); !ok {
			p.Property = Property{Name: property, Label: cmp.Or(map[string]string{AddProperty: "New entry"}[property], property), Kind: text{}}
		}
		p.Field = Field(name, n, property)
	}
	if n, after, ok := index(rest); ok {
		p.Item, rest = n, after
	}
	p.Part = strings.TrimPrefix(rest, ".")
	return p, true
}

// splitPath cuts the first name off.
func splitPath(path string) (name, rest string) {
	if end := strings.IndexAny(path, "[."); end >= 0 {
		return path[:end], path[end:]
	}
	return path, ""
}

// index cuts [N] off.
func index(path string) (n int, rest string, ok bool) {
	inside, ok := strings.CutPrefix(path, "[")
	if !ok {
		return 0, path, false
	}
	digits, rest, _ := strings.Cut(inside, "]")
	n, err := strconv.Atoi(digits)
	return n, rest, err == nil
}

// Label returns how an error names the place: "Reward 2, level", "Ignored roles".
func (p Place) Label() string {
	rows, ok := p.List.Kind.(Rows)
	if !ok {
		return p.Property.Label
	}
	label, _, _ := strings.Cut(p.Property.Label, " (")
	if label != strings.ToUpper(label) {
		label = strings.ToLower(label[:1]) + label[1:]
	}
	return fmt.Sprintf("%s %d, %s", rows.Noun, p.Row+1, label)
}

// AddProperty is a row's field in which an item is chosen for its list of ids. AddSuffix ends the name of such a field outside rows.
const (
	AddProperty = "add"
	AddSuffix   = "[add]"
)

// Edit does what a list's button does: it adds a row, of a type if the list has types, or removes
// one. It returns the name of the first field of a new row. It ignores a do that no button sends.
func (f Form) Edit(do string) (added string) {
	verb, argument, _ := strings.Cut(do, " ")
	verb, noun, _ := strings.Cut(verb, "-")
	for _, p := range Table {
		rows, ok := p.Kind.(Rows)
		if !ok || !strings.EqualFold(rows.Noun, noun) {
			continue
		}
		n, err := strconv.Atoi(argument)
		list := f.Rows[p.Name]
		switch {
		case verb == "add":
			row := map[string]string{}
			if rows.added != nil {
				row = rows.fillRow(decode[object](Encode(rows.added(argument))), nil)
			}
			f.Rows[p.Name] = append(list, row)
			return Field(p.Name, len(list), rows.first())
		case verb == "remove" && err == nil && n >= 0 && n < len(list):
			f.Rows[p.Name] = append(list[:n:n], list[n+1:]...)
		}
	}
	return ""
}

// first returns the first visible field of a row.
func (r Rows) first() string {
	for _, p := range r.Fields {
		if p.Kind.Shape() != "hidden" {
			return p.Name
		}
	}
	return ""
}

// Next returns the first field of the row that would be added next.
func (f Form) Next(p Property) string {
	rows, _ := p.Kind.(Rows)
	return Field(p.Name, len(f.Rows[p.Name]), rows.first())
}
