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

// form is a sent form and its errors, by the ids of fields. A nil form has neither. A field's id
// is also its name, except for reasons: a page may have several, whose name is always "reason".
type form struct {
	sent   url.Values
	Wrongs []wrong // in the order in which they were found
	code   int     // of the answer if there are errors; 0: 422
}

// wrong is an error of a field, or of the whole form if ID is empty. Label names the field in the list of errors; it may be empty.
type wrong struct{ ID, Label, Message string }

// Value returns what was sent in a field.
func (f *form) Value(id string) string {
	if f == nil {
		return ""
	}
	return strings.TrimSpace(f.sent.Get(id))
}

// refuse sets the error of a field. It replaces an earlier one.
func (f *form) refuse(id, message string) { f.note(wrong{ID: id, Message: message}) }

func (f *form) note(w wrong) {
	i := slices.IndexFunc(f.Wrongs, func(known wrong) bool { return known.ID == w.ID })
	if i < 0 {
		i, f.Wrongs = len(f.Wrongs), append(f.Wrongs, w)
	}
	f.Wrongs[i] = w
}

// bad reports whether there are errors.
func (f *form) bad() bool { return f != nil && len(f.Wrongs) > 0 }

// status returns the status of the page that shows the form.
func (f *form) status() int {
	switch {
	case !f.bad():
		return http.StatusOK
	case f.code != 0:
		return f.code
	}
	return http.StatusUnprocessableEntity
}

// Wrong returns the error of a field, or "".
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

// reason reads why a change is made. It moves the text to the field with that id, so that only this field shows it again.
func (f *form) reason(id string) string {
	reason := f.Value("reason")
	f.sent.Del("reason")
	f.sent.Set(id, reason)
	if !audit.ValidReason(reason) {
		f.refuse(id, fmt.Sprintf("A reason has at most %d characters.", audit.MaxReason))
	}
	return reason
}

// field is a form's field with its label, hint and error, for the template "field".
type field struct {
	Name, ID, Label, Who, Value, Hint, Wrong string              // Who is a name at the end of the label
	Shape                                    string              // see properties.Kind; empty for an input
	Attributes                               template.HTMLAttr   // of the input
	Type                                     string              // of an input; empty for text
	List                                     string              // the id of a datalist
	Into                                     string              // the id of the text area that a choice is added to
	Unit                                     string              // of a cooldown
	Options                                  []properties.Option // the choices
	Ticked                                   func(value string) bool
	Focus                                    bool    // the page opens at this field, which need not have an error
	Chooser                                  *field  // adds an item to this text area
	Coefficients                             []field // of a curve
	sent                                     bool
}

// fieldOf makes a field in a template. attributes is always a constant in the template.
func fieldOf(f *form, id, label, hint string, attributes template.HTMLAttr) field {
	return field{
		Name: id, ID: id, Label: label, Hint: hint, Attributes: attributes, Value: strings.ToValidUTF8(f.Value(id), "?"), Wrong: f.Wrong(id),
		Ticked: func(value string) bool { return f.Value(properties.BoxOf(id, value)) != "" }, sent: f != nil && f.sent.Has(id),
	}
}

// reasonField makes the field where a form asks for the reason of a change.
func reasonField(f *form, id string) field {
	asked := fieldOf(f, id, "Reason", "Optional. It is kept in the audit log.", "maxlength=512")
	asked.Name = "reason"
	return asked
}

// Or returns the field with a value for a form that was not sent.
func (f field) Or(value string) field {
	if !f.sent {
		f.Value = value
	}
	return f
}

// Of returns the field with a name at the end of its label.
func (f field) Of(name string) field {
	f.Who = name
	return f
}

// As returns the field in another shape.
func (f field) As(shape string) field {
	f.Shape = shape
	return f
}

// From returns the field with options, in a list unless it has a shape.
func (f field) From(options []properties.Option) field {
	f.Options = options
	if f.Shape == "" {
		f.Shape = "select"
	}
	return f
}

// Choose is From with pairs of a value and its label.
func (f field) Choose(pairs ...string) field { return f.From(options(pairs...)) }

// options returns the pairs of a value and its label as options.
func options(pairs ...string) (list []properties.Option) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, properties.Option{Value: pair[0], Label: pair[1]})
	}
	return list
}

// Describes returns the ids of the texts that explain a field, for aria-describedby.
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

// fieldID turns a field's name into an id in the page, and in an address after #.
func fieldID(name string) string {
	return "f-" + strings.Trim(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '-'
	}, name), "-")
}
