package properties

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is how values of a property look. In a form they are text, right or wrong, in the fields whose names begin with the property's.
type Kind interface {
	// Shape names how it is shown in a form: box, radio, select, input, area, hidden, curve, cooldown, ticks or rows.
	Shape() string
	// fill writes a value of the document into the fields.
	fill(f Form, name string, value jsontext.Value, k *Known)
	// read returns the value that the fields say. It passes on as text anything else, for the document's rules to reject. saved is the
	// value that the document has in its place.
	read(f Form, name string, saved jsontext.Value, k *Known) any
	// words says a value of the document in words.
	words(value jsontext.Value, k *Known) string
}

// Option is a value to choose and what it is called.
type Option struct{ Value, Label string }

// Options are what a kind of value is chosen from; nil when it is not.
func Options(kind Kind) []Option {
	switch k := kind.(type) {
	case choice:
		return k.Options
	case curve:
		return k.Options
	case ticks:
		return k.Options
	}
	return nil
}

// Input is a kind whose field is an input of HTML.
type Input interface{ Input() (kind, list string) }

const on, off = "on", "off"

// box is true or false. A box that is not ticked is empty in a form, or not there.
type box struct{}

func (box) Shape() string { return "box" }

func (box) fill(f Form, name string, value jsontext.Value, _ *Known) {
	f.Fields[name] = ""
	if isTrue(value) {
		f.Fields[name] = on
	}
}

func (box) read(f Form, name string, _ jsontext.Value, _ *Known) any { return f.Fields[name] != "" }

func (box) words(value jsontext.Value, _ *Known) string {
	if isTrue(value) {
		return on
	}
	return off
}

func isTrue(value jsontext.Value) bool { return string(value) == "true" }

// text is a string.
type text struct {
	lower       bool   // it is kept in lower case
	optional    bool   // null when empty
	area        bool   // its field has lines
	input, list string // the type of its field, and the datalist that it has
}

func (t text) Input() (kind, list string)                { return t.input, t.list }
func (text) words(value jsontext.Value, _ *Known) string { return plain(value) }

func (t text) Shape() string {
	if t.area {
		return "area"
	}
	return "input"
}

func (text) fill(f Form, name string, value jsontext.Value, _ *Known) { f.Fields[name] = plain(value) }

func (t text) read(f Form, name string, _ jsontext.Value, _ *Known) any {
	typed := strings.TrimSpace(f.Fields[name])
	if t.optional && typed == "" {
		return nil
	}
	if t.lower {
		return strings.ToLower(typed)
	}
	return typed
}

// hidden is the id of a row, which a new one does not have.
type hidden struct{ text }

func (hidden) Shape() string { return "hidden" }

func (hidden) read(f Form, name string, _ jsontext.Value, _ *Known) any {
	if f.Fields[name] == "" {
		return leftOut{}
	}
	return f.Fields[name]
}

// leftOut is no value: the row has no such property.
type leftOut struct{}

// choice is one of some texts.
type choice struct {
	text
	radio   bool
	Options []Option
}

func (c choice) Shape() string {
	if c.radio {
		return "radio"
	}
	return "select"
}

// words is the value in lower case: "public", "channel".
func (c choice) words(value jsontext.Value, _ *Known) string { return strings.ToLower(plain(value)) }

// number is a number as it was typed.
type number struct{ whole bool }

func (number) Shape() string                               { return "input" }
func (number) Input() (kind, list string)                  { return "", "" }
func (number) words(value jsontext.Value, _ *Known) string { return plain(value) }

func (number) fill(f Form, name string, value jsontext.Value, _ *Known) {
	f.Fields[name] = plain(value)
}

func (n number) read(f Form, name string, _ jsontext.Value, _ *Known) any {
	typed := f.Fields[name]
	if n.whole {
		typed = PlainNumber(typed)
	}
	return Numeric(typed)
}

// Numeric passes a number on as it was written, for the document's rules to judge; anything else becomes a string, which they reject.
func Numeric(typed string) jsontext.Value {
	typed = strings.TrimSpace(typed)
	if typed != "" && strings.Trim(typed, "0123456789.eE+-") == "" && jsontext.Value(typed).IsValid() {
		return jsontext.Value(typed)
	}
	return Encode(typed)
}

var (
	// thousands is a whole number as people group it: 1,000, 1 000, 1.000 or 1'000.
	thousands  = regexp.MustCompile(`^[0-9]{1,3}(?:[,.' \x{a0}\x{202f}’][0-9]{3})+$`)
	separators = regexp.MustCompile(`[^0-9]`)
)

// PlainNumber is a whole number as it was typed, without what groups its digits.
func PlainNumber(typed string) string {
	if typed = strings.TrimSpace(typed); thousands.MatchString(typed) {
		return separators.ReplaceAllString(typed, "")
	}
	return typed
}

// ticks are some of few texts, a box each.
type ticks struct{ Options []Option }

func (ticks) Shape() string { return "ticks" }

// BoxOf is the field of one of them.
func BoxOf(name, value string) string { return name + "[" + value + "]" }

func (t ticks) fill(f Form, name string, value jsontext.Value, _ *Known) {
	for _, one := range decode[[]string](value) {
		f.Fields[BoxOf(name, one)] = on
	}
}

// read returns first those that are saved, in their order, so that an unchanged form changes nothing.
func (t ticks) read(f Form, name string, saved jsontext.Value, _ *Known) any {
	list, was := []string{}, decode[[]string](saved)
	seen := map[string]bool{}
	for _, o := range t.Options {
		was = append(was, o.Value)
	}
	for _, one := range was {
		if f.Fields[BoxOf(name, one)] != "" && !seen[one] {
			list, seen[one] = append(list, one), true
		}
	}
	return list
}

func (t ticks) words(value jsontext.Value, _ *Known) string {
	return strings.Join(decode[[]string](value), ", ")
}

// tally is a list that is only counted.
type tally struct{ text }

func (tally) words(value jsontext.Value, _ *Known) string {
	return fmt.Sprint(len(decode[[]jsontext.Value](value)))
}

// plain is a text of the document without its quotes, and anything else as it is written there; null is empty.
func plain(value jsontext.Value) string {
	switch value.Kind() {
	case '"':
		return decode[string](value)
	case 'n', 0:
		return ""
	default:
		return string(value)
	}
}

// decode reads what Marshal or encode wrote.
func decode[T any](value jsontext.Value) (read T) {
	if len(value) > 0 {
		_ = json.Unmarshal(value, &read, jsontext.AllowInvalidUTF8(true))
	}
	return read
}

// Encode writes what has no way to fail: texts, numbers, lists and maps of them. The same value is written in the same way.
func Encode(value any) jsontext.Value {
	encoded, err := json.Marshal(value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return jsontext.Value("null")
	}
	return encoded
}
