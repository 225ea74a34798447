package web

import (
	"strings"
	"unicode"

	"levelboard/internal/domain/properties"
)

// field is one field of a form, for the template "field", or a group of them.
type field struct {
	Name, ID, Label, Value, Hint, Wrong string
	Shape                               string              // as of properties.Kind; empty for an input
	Type                                string              // of an input; empty for text
	List                                string              // the id of a datalist
	Into                                string              // the id of the text area that what is chosen goes to
	Unit                                string              // of a cooldown
	Options                             []properties.Option // to choose from
	Focus                               bool                // the page is about this field
	Chooser                             *field              // adds an item to this text area
	Coefficients                        []field             // of a curve
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

// ticked is the value of a box.
func ticked(on bool) string {
	if on {
		return "on"
	}
	return ""
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
