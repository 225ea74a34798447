package web

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
	"levelboard/internal/usecase/guilds"
)

// refuse sets the error of the field with that name, or of the form if name is "".
func (p *settingsPage) refuse(name, message string) {
	w := wrong{Message: message}
	if name != "" {
		place, _ := properties.PlaceOf(name)
		w.ID, w.Label = fieldID(name), place.Label()
	}
	p.Refused.note(w)
}

// propose checks the form and sets the errors of its fields.
func (p *settingsPage) propose() (guilds.Proposal, bool, error) {
	proposal, wrong, err := guilds.Propose(p.Guild.Settings, p.known.Given(p.Form))
	for _, w := range wrong.Faults {
		if field, message := p.place(w); p.Refused.Wrong(fieldID(field)) == "" {
			p.refuse(field, message)
		}
	}
	if wrong.More > 0 {
		p.refuse("", fmt.Sprintf("There are %s more errors. Correct these first.", count(wrong.More)))
	}
	return proposal, err == nil && !p.Refused.bad(), err
}

// place finds the field of an error, and rewords the error for readers who see a form and no JSON.
func (p *settingsPage) place(w *fault.Error) (field, message string) {
	place, ok := properties.PlaceOf(w.Path)
	message = strings.TrimSuffix(strings.TrimSuffix(w.Rule(), "."), ", not a string") // every field is text
	shape := ""
	if ok {
		shape = place.Property.Kind.Shape()
	}
	switch {
	case !ok:
		return "", sentence(message)
	case errors.Is(w.Cause, guild.ErrCrossed):
		return p.crossed()
	case shape == "cooldown":
		return place.Field, "Must be a number of minutes or seconds, from 10 seconds to 1 day."
	case shape == "curve" && place.Item < 0 && p.Form.Fields[properties.Coefficient(0)]+p.Form.Fields[properties.Coefficient(1)] == "":
		return place.Field, "Enter numbers for a custom curve, at least a and b."
	case place.Property.Name == place.List.Name && place.List.Name != "": // a season overlaps another one
		return properties.Field(place.List.Name, place.Row, "start"), sentence(p.rowsNumbered(message))
	}
	return place.Field, sentence(p.inLines(place, w, p.rowsNumbered(message)))
}

// inLines adds to the message the place of the error: a line of a text area, or an entry of a list.
func (p *settingsPage) inLines(place properties.Place, w *fault.Error, message string) string {
	lines := p.lines(place)
	noID, n, part := errors.Is(w.Cause, id.ErrSnowflake), place.Item, place.Part
	if noID || part != "" && n >= 0 && n < len(lines) && !id.Valid(lines[n].ID) {
		noID, part, message = true, "id", id.ErrSnowflake.Error()
	}
	if part != "" {
		message = "the " + part + " " + message
	}
	switch {
	case n < 0:
		return message
	case n >= len(lines) && place.Property.Kind.Shape() == "curve":
		return fmt.Sprintf("coefficient %d: %s", n+1, message)
	case n >= len(lines):
		return fmt.Sprintf("entry %d: %s", n+1, message)
	case noID:
		return linesWithoutID(lines) + ": " + message
	default:
		return fmt.Sprintf("line %d: %s", lines[n].Number, message)
	}
}

// lines returns the lines of a text area, or nothing for another field.
func (p *settingsPage) lines(place properties.Place) []properties.Line {
	lined, ok := place.Property.Kind.(properties.Lined)
	if !ok {
		return nil
	}
	values := p.Form.Fields
	if rows := p.Form.Rows[place.List.Name]; place.Row < len(rows) {
		values = rows[place.Row]
	}
	return lined.Lines(values[place.Property.Name])
}

// rowsNumbered replaces the paths of rows in a message by their names on the page.
func (p *settingsPage) rowsNumbered(message string) string {
	for _, property := range properties.Table {
		rows, _ := property.Kind.(properties.Rows)
		for n := range p.Form.Rows[property.Name] {
			message = strings.ReplaceAll(message, fmt.Sprintf("%s[%d]", property.Name, n), fmt.Sprintf("%s %d", strings.ToLower(rows.Noun), n+1))
		}
	}
	return message
}

// crossed words the error of a minimum XP above the maximum. It goes to the one of the two that was changed.
func (p *settingsPage) crossed() (field, message string) {
	least, most := strings.TrimSpace(p.Form.Fields["xpPerMessageMin"]), strings.TrimSpace(p.Form.Fields["xpPerMessageMax"])
	if least == strconv.Itoa(p.Guild.XPPerMessageMin) {
		return "xpPerMessageMax", fmt.Sprintf("The maximum must not be below the minimum, but %s is below %s.", most, least)
	}
	return "xpPerMessageMin", fmt.Sprintf("The minimum must not be above the maximum, but %s is above %s.", least, most)
}

// sentence adds a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return "This value is invalid."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// linesWithoutID names the lines with invalid ids, so that the manager can correct them together.
func linesWithoutID(written []properties.Line) string {
	var lines []string
	for _, w := range written {
		if !id.Valid(w.ID) {
			lines = append(lines, strconv.Itoa(w.Number))
		}
	}
	lines = slices.Compact(lines) // a line may have several ids
	named := strings.Join(lines[:min(linesNamed, len(lines))], ", ")
	if more := len(lines) - linesNamed; more > 0 {
		named += " and " + count(more) + " more"
	}
	return plural(len(lines), "line") + " " + named
}

// linesNamed is the maximum number of wrong lines that are named. The others are counted.
const linesNamed = 6
