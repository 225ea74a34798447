package properties

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind says how values of a property are shown and read. A form holds them as
// text, which may be invalid, in fields whose names begin with the property's.
type Kind interface {
	// Shape names the control on the page: box, radio, select, input, area, hidden, curve, cooldown, ticks or rows.
	Shape() string
	// fill writes a value of the document into the fields.
	fill(f Form, name string, value jsontext.Value, k *Known)
	// read returns the value of the fields. It passes on text that is no such value, so
	// that the document's rules reject it. saved is the value that the saved document has.
	read(f Form, name string, saved jsontext.Value, k *Known) any
	// words puts a value of the document into words.
	words(value jsontext.Value, k *Known) string
}

// Option is a value to choose, and its label.
type Option struct{ Value, Label string }

// Options returns the options of a kind, or nil if it has none.
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

// Input is a kind that is shown as an HTML input.
type Input interface{ Input() (kind, list string) }

const on, off = "on", "off"

// box is true or false. In a form, a box that is not ticked is empty or absent.
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
	lower       bool   // stored in lower case
	optional    bool   // null when empty
	area        bool   // a text area
	input, list string // the input's type, and its datalist
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

// hidden is the id of a row. A new row has none.
type hidden struct{ text }

func (hidden) Shape() string { return "hidden" }

func (hidden) read(f Form, name string, _ jsontext.Value, _ *Known) any {
	if f.Fields[name] == "" {
		return leftOut{}
	}
	return f.Fields[name]
}

// leftOut has no value: the row lacks the property.
type leftOut struct{}

// choice is one of a few texts.
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

// words returns the value in lower case: "public", "channel".
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

// Numeric passes a number on as typed, for the document's rules to check. Other text becomes a string, which they reject.
func Numeric(typed string) jsontext.Value {
	typed = strings.TrimSpace(typed)
	if typed != "" && strings.Trim(typed, "0123456789.eE+-") == "" && jsontext.Value(typed).IsValid() {
		return jsontext.Value(typed)
	}
	return Encode(typed)
}

var (
	// thousands matches a whole number with grouped digits: 1,000, 1 000, 1.000 or 1'000.
	thousands  = regexp.MustCompile(`^[0-9]{1,3}(?:[,.' \x{a0}\x{202f}’][0-9]{3})+$`)
	separators = regexp.MustCompile(`[^0-9]`)
)

// PlainNumber removes what groups the digits of a typed whole number.
func PlainNumber(typed string) string {
	if typed = strings.TrimSpace(typed); thousands.MatchString(typed) {
		return separators.ReplaceAllString(typed, "")
	}
	return typed
}

// ticks is a choice of any number of a few texts, with a box for each.
type ticks struct{ Options []Option }

func (ticks) Shape() string { return "ticks" }

// BoxOf returns the name of the field of one box.
func BoxOf(name, value string) string { return name + "[" + value + "]" }

func (t ticks) fill(f Form, name string, value jsontext.Value, _ *Known) {
	for _, one := range decode[[]string](value) {
		f.Fields[BoxOf(name, one)] = on
	}
}

// read puts the saved ones first, in their saved order, so that an unchanged form changes nothing.
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

// tally is a list of which only the length is shown.
type tally struct{ text }

func (tally) words(value jsontext.Value, _ *Known) string {
	return fmt.Sprint(len(decode[[]jsontext.Value](value)))
}

// plain returns a text of the document without its quotes, "" for null, and any other value as JSON.
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

// decode reads what Marshal or Encode wrote.
func decode[T any](value jsontext.Value) (read T) {
	if len(value) > 0 {
		_ = json.Unmarshal(value, &read, jsontext.AllowInvalidUTF8(true))
	}
	return read
}

// Encode writes values that cannot fail: texts, numbers, and lists and maps of them. It always writes the same value in the same way.
func Encode(value any) jsontext.Value {
	encoded, err := json.Marshal(value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return jsontext.Value("null")
	}
	return encoded
}
