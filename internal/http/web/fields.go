package web

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"levelboard/internal/domain/properties"
	"levelboard/internal/usecase/audit"
)

// form is what was sent in a form, and what is wrong with it, by the ids of fields. A nil form has neither. A field's id is its name too, but for
// reasons, of which a page has several.
type form struct {
	sent   url.Values
	Wrongs []wrong // in the order in which they were found
	code   int     // of the answer when something is wrong; 0 is 422
}

// wrong is what is wrong with a field, or with the whole form when ID is empty. Label is what the list of errors calls the field, or empty.
type wrong struct{ ID, Label, Message string }

// Value is what was sent in a field.
func (f *form) Value(id string) string {
	if f == nil {
		return ""
	}
	return strings.TrimSpace(f.sent.Get(id))
}

// refuse puts a message beside a field. It takes the place of one that is there.
func (f *form) refuse(id, message string) { f.note(wrong{ID: id, Message: message}) }

func (f *form) note(w wrong) {
	i := slices.IndexFunc(f.Wrongs, func(known wrong) bool { return known.ID == w.ID })
	if i < 0 {
		i, f.Wrongs = len(f.Wrongs), append(f.Wrongs, w)
	}
	f.Wrongs[i] = w
}

// bad reports whether something is wrong.
func (f *form) bad() bool { return f != nil && len(f.Wrongs) > 0 }

// status is that of the page that shows the form.
func (f *form) status() int {
	switch {
	case !f.bad():
		return http.StatusOK
	case f.code != 0:
		return f.code
	}
	return http.StatusUnprocessableEntity
}

// Wrong is the error beside a field, or empty.
func (f *form) Wrong(id string) string {
	if f.bad() {
		for _, w := range f.Wrongs {
			if w.ID == id {
				return w.Message
			}
		}
	}
	return ""
}

// reason reads why a change is made. From then on it is the field of that id alone that it was sent in.
func (f *form) reason(id string) string {
	reason := f.Value("reason")
	f.sent.Del("reason")
	f.sent.Set(id, reason)
	if !audit.ValidReason(reason) {
		f.refuse(id, fmt.Sprintf("A reason has at most %d characters.", audit.MaxReason))
	}
	return reason
}

// field is one field of a form with its label, hint and error, for the template "field".
type field struct {
	Name, ID, Label, Who, Value, Hint, Wrong string              // Who is a name at the end of the label
	Shape                                    string              // as of properties.Kind; empty for an input
	Attributes                               template.HTMLAttr   // of the input
	Type                                     string              // of an input; empty for text
	List                                     string              // the id of a datalist
	Into                                     string              // the id of the text area that what is chosen goes to
	Unit                                     string              // of a cooldown
	Options                                  []properties.Option // to choose from
	Ticked                                   func(value string) bool
	Focus                                    bool    // the page is about this field, though nothing is wrong
	Chooser                                  *field  // adds an item to this text area
	Coefficients                             []field // of a curve
	sent                                     bool
}

// fieldOf makes a field of a form in a template. attributes are a text there, never a value.
func fieldOf(f *form, id, label, hint string, attributes template.HTMLAttr) field {
	return field{
		Name: id, ID: id, Label: label, Hint: hint, Attributes: attributes, Value: strings.ToValidUTF8(f.Value(id), "?"), Wrong: f.Wrong(id),
		Ticked: func(value string) bool { return f.Value(properties.BoxOf(id, value)) != "" }, sent: f != nil && f.sent.Has(id),
	}
}

// reasonField is where a form asks why a change is made.
func reasonField(f *form, id string) field {
	asked := fieldOf(f, id, "Reason", "Optional. It is kept in the audit log.", "maxlength=512")
	asked.Name = "reason"
	return asked
}

// Or is the field with a value for a form that was not sent.
func (f field) Or(value string) field {
	if !f.sent {
		f.Value = value
	}
	return f
}

// Of is the field with a name at the end of its label.
func (f field) Of(name string) field {
	f.Who = name
	return f
}

// As is the field in another shape.
func (f field) As(shape string) field {
	f.Shape = shape
	return f
}

// From is the field with options to choose from, in a list unless it has a shape.
func (f field) From(options []properties.Option) field {
	f.Options = options
	if f.Shape == "" {
		f.Shape = "select"
	}
	return f
}

// Choose is From with pairs of a value and what it is called.
func (f field) Choose(pairs ...string) field { return f.From(options(pairs...)) }

// options are pairs of a value and what it is called.
func options(pairs ...string) (list []properties.Option) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, properties.Option{Value: pair[0], Label: pair[1]})
	}
	return list
}

// Describes are the ids of what explains a field, for aria-describedby.
func (f field) Describes() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.ID+"-hint")
	}
	if f.Wrong != "" {
		ids = append(ids, f.ID+"-error")
	}
	return strings.Join(ids, " ")
}

// fieldID is a field's name as an id in the page, and in an address after #.
func fieldID(name string) string {
	return "f-" + strings.Trim(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '-'
	}, name), "-")
}
