package properties

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// Of says what kind of ids a list has.
type Of string

// The kinds of ids. Members' ids have no names here.
const (
	Members  Of = ""
	Channels Of = "channel"
	Roles    Of = "role"
)

// Line is a line of a text area: an id, and the name after it.
type Line struct {
	Number   int // from 1, empty lines included
	ID, Name string
}

// Lined is a kind that is typed into a text area, one id a line.
type Lined interface {
	Kind
	// Lines reads a text area.
	Lines(text string) []Line
	// Names returns what kind of ids the field has; row is the row that has the field.
	Names(row map[string]string) Of
}

// ids is a list of ids. A line may also have a name, which is dropped, or several ids.
type ids struct{ of Of }

func (ids) Shape() string                { return "area" }
func (i ids) Names(map[string]string) Of { return i.of }
func (ids) Lines(text string) (list []Line) {
	for _, line := range namedLines(strings.NewReplacer(",", " ", ";", " ").Replace(text)) {
		list = append(list, Line{Number: line.Number, ID: line.ID})
		for _, word := range strings.FieldsFunc(line.Name, isSpace) {
			if idLike.MatchString(word) {
				list = append(list, Line{Number: line.Number, ID: word})
			}
		}
	}
	return list
}

func (i ids) fill(f Form, name string, value jsontext.Value, k *Known) {
	text := ""
	for _, one := range decode[[]string](value) {
		text += i.line(one, k.nameOf(i.of, one)) + "\n"
	}
	f.Fields[name] = text
}

// line leaves out a name that would be read as another id.
func (i ids) line(one, name string) string {
	line := strings.TrimSpace(one + " " + OneLine(name))
	if len(i.Lines(line)) > 1 {
		return one
	}
	return line
}

func (i ids) read(f Form, name string, _ jsontext.Value, _ *Known) any {
	list := []string{}
	for _, line := range i.Lines(f.Fields[name]) {
		list = append(list, line.ID)
	}
	return list
}

func (i ids) words(value jsontext.Value, k *Known) string {
	var list []string
	for _, one := range decode[[]string](value) {
		list = append(list, i.line(one, k.nameOf(i.of, one)))
	}
	return strings.Join(list, ", ")
}

// targets are the channels or roles of a row. Properties that a form does not show, such as a colour, stay as saved.
type targets struct{ byType bool } // the row's type chooses channels or roles; else they are roles

func (targets) Shape() string            { return "area" }
func (targets) Lines(text string) []Line { return namedLines(text) }

// Names returns what kind of ids a row has.
func (t targets) Names(row map[string]string) Of {
	if t.byType && row["type"] != string(guild.RoleMultiplier) {
		return Channels
	}
	return Roles
}

func (targets) fill(f Form, name string, value jsontext.Value, _ *Known) {
	text := ""
	for _, t := range decode[[]object](value) {
		text += plain(t["id"]) + " " + OneLine(plain(t["name"])) + "\n"
	}
	f.Fields[name] = text
}

func (t targets) read(f Form, name string, saved jsontext.Value, k *Known) any {
	list, was := []object{}, decode[[]object](saved)
	for _, line := range namedLines(f.Fields[name]) {
		target := object{}
		if i := slices.IndexFunc(was, func(o object) bool { return plain(o["id"]) == line.ID }); i >= 0 {
			target = was[i]
		} else if known, ok := k.targets[t.Names(f.Fields)][line.ID]; ok {
			target = known.copied()
		}
		if k.brief {
			target = object{"name": Encode(OneLine(plain(target["name"])))}
		}
		target["id"] = Encode(line.ID)
		// A line cannot hold every name unchanged. If it has the saved name as OneLine writes it, the saved name stays.
		if line.Name != "" && OneLine(plain(target["name"])) != OneLine(line.Name) {
			target["name"] = Encode(line.Name)
		}
		list = append(list, target)
	}
	return list
}

func (targets) words(value jsontext.Value, _ *Known) string {
	var list []string
	for _, t := range decode[[]object](value) {
		name := OneLine(plain(t["name"]))
		if name == "" {
			name = plain(t["id"])
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// namedLines reads a text area whose lines are an id, a space, and a name.
func namedLines(text string) (list []Line) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		read := Line{Number: n, ID: line}
		if end := strings.IndexFunc(line, isSpace); end >= 0 {
			read.ID, read.Name = line[:end], strings.TrimSpace(line[end:])
		}
		list = append(list, read)
	}
	return list
}

// idLike matches numbers that must be meant as ids, valid or not, and not as part of a name.
var idLike = regexp.MustCompile(`^[0-9]{15,}$`)

func isSpace(r rune) bool { return strings.ContainsRune(" \t\u00a0,;", r) }

// OneLine returns a name in the form that a line of a text area can hold.
func OneLine(name string) string { return strings.Join(strings.Fields(name), " ") }

// Choices returns the lines that can be added to a text area: the channels or the roles of a directory.
func Choices(d guild.Directory, of Of) (list []Line) {
	switch of {
	case Channels:
		for _, c := range d.Channels {
			list = append(list, Line{ID: string(c.ID), Name: OneLine(c.Name)})
		}
	case Roles:
		for _, r := range d.Roles {
			list = append(list, Line{ID: string(r.ID), Name: OneLine(r.Name)})
		}
	}
	return list
}

// Added returns the text of the field with one more line, unless it has one with that id.
func Added(kind Lined, text string, line Line) string {
	if slices.ContainsFunc(namedLines(text), func(l Line) bool { return l.ID == line.ID }) {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	written := strings.TrimSpace(line.ID + " " + line.Name)
	if i, ok := kind.(ids); ok {
		written = i.line(line.ID, line.Name)
	}
	return text + written + "\n"
}

// Ambiguous reports whether a list of choices must show the id with the name, since the name looks like an id.
func (l Line) Ambiguous() bool {
	return l.Name == "" || id.Valid(l.Name) || ids{}.line(l.ID, l.Name) == l.ID
}
