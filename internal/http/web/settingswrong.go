package web

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/guildsettings"
)

// wrong is what is wrong with the field of that name, or with the whole form when there is none.
type wrong struct{ Field, Message string }

// ID is where the field is in the page.
func (w wrong) ID() string { return fieldID(w.Field) }

// Label is what the field is called in the list of errors.
func (w wrong) Label() string {
	if row := rowField.FindStringSubmatch(w.Field); row != nil {
		if n, err := strconv.Atoi(row[2]); err == nil {
			return fmt.Sprintf("%s %d, %s", rowNames[row[1]], n+1, cmp.Or(rowLabels[row[3]], row[3]))
		}
	}
	property, _, _ := strings.Cut(w.Field, "[")
	for _, p := range settingsProperties {
		if p.name == property {
			return p.label
		}
	}
	return "The settings"
}

// rowNames are what the page calls the rows of a list, and rowLabels those of their fields that it does not call by their names.
var (
	rowNames  = map[string]string{multipliers: "Multiplier", roleRewards: "Reward", seasons: "Season"}
	rowLabels = map[string]string{"type": "applies to", "targets": "channels or roles", addProperty: "new entry", "id": "ID"}
)

// refuse puts a message beside a field. It takes the place of one that is there.
func (p *settingsPage) refuse(field, message string) {
	i := slices.IndexFunc(p.Wrongs, func(w wrong) bool { return w.Field == field })
	if i < 0 {
		i, p.Wrongs = len(p.Wrongs), append(p.Wrongs, wrong{Field: field})
	}
	p.Wrongs[i].Message = message
}

// Wrong is the error beside a field, or empty.
func (p *settingsPage) Wrong(field string) string {
	for _, w := range p.Wrongs {
		if w.Field == field {
			return w.Message
		}
	}
	return ""
}

// propose judges the form and puts what is wrong beside its fields.
func (p *settingsPage) propose() (guildsettings.Proposal, bool, error) {
	proposal, wrong, err := guildsettings.Propose(p.Guild.Settings, p.given())
	for _, w := range wrong.Faults {
		if field, message := p.place(w); p.Wrong(field) == "" {
			p.refuse(field, message)
		}
	}
	if wrong.More > 0 {
		p.refuse("", fmt.Sprintf("There are %s more errors. Correct these first.", count(wrong.More)))
	}
	return proposal, err == nil && len(p.Wrongs) == 0, err
}

// pathParts splits a path of the document into the field of the form, the item of a list in that field, and its property.
var pathParts = regexp.MustCompile(`^((?:multipliers|roleRewards|seasons)\[\d+\]\.\w+|\w*)(?:\[(\d+)\])?(?:\.(\w+))?$`)

// rowPath is a row in an error about another one.
var rowPath = regexp.MustCompile(`(season|multiplier)s\[(\d+)\]`)

// rowsNumbered calls the rows in a message what the page calls them.
func rowsNumbered(message string) string {
	return rowPath.ReplaceAllStringFunc(message, func(path string) string {
		parts := rowPath.FindStringSubmatch(path)
		n, _ := strconv.Atoi(parts[2])
		return fmt.Sprintf("%s %d", parts[1], n+1)
	})
}

// place finds the field that an error belongs to and words the error for somebody who sees a form and no JSON.
func (p *settingsPage) place(w *fault.Error) (field, message string) {
	parts := pathParts.FindStringSubmatch(w.Path)
	if parts == nil {
		return "", sentence(strings.TrimSuffix(w.Rule(), "."))
	}
	if errors.Is(w.Cause, guild.ErrCrossed) {
		return p.crossed()
	}
	if w.Path == cooldown {
		return cooldown, "Must be a number of minutes or seconds, from 10 seconds to 1 day."
	}
	field, item, property := parts[1], parts[2], parts[3]
	message = rowsNumbered(strings.TrimSuffix(strings.TrimSuffix(w.Rule(), "."), ", not a string")) // every field is text
	if field == seasons && item != "" {                                                             // it overlaps another one
		return seasons + "[" + item + "].start", sentence(message)
	}
	noID := errors.Is(w.Cause, id.ErrSnowflake)
	if noID {
		property, message = "id", w.Cause.Error()
	}
	if property != "" {
		message = "the " + property + " " + message
	}
	if n, err := strconv.Atoi(item); err == nil {
		switch written := p.Form.written(field); {
		case n >= len(written) && field == "curve":
			message = fmt.Sprintf("coefficient %d: %s", n+1, message)
		case n >= len(written):
			message = fmt.Sprintf("entry %d: %s", n+1, message)
		case noID:
			message = linesWithoutID(written) + ": " + message
		default:
			message = fmt.Sprintf("line %d: %s", written[n].Line, message)
		}
	}
	return field, sentence(message)
}

// crossed says that the least XP is above the most, beside the one of the two that was changed.
func (p *settingsPage) crossed() (field, message string) {
	least, most := strings.TrimSpace(p.Form.Fields["xpPerMessageMin"]), strings.TrimSpace(p.Form.Fields["xpPerMessageMax"])
	if least == strconv.Itoa(p.Guild.XPPerMessageMin) {
		return "xpPerMessageMax", fmt.Sprintf("The maximum must not be below the minimum, but %s is below %s.", most, least)
	}
	return "xpPerMessageMin", fmt.Sprintf("The minimum must not be above the maximum, but %s is above %s.", least, most)
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return "This value is invalid."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// field is one input of the form, for the templates input and area.
type field struct {
	Name, ID, Label, Value, Hint, Wrong string
	Type                                string // of an input; empty for text
	List                                string // the id of a datalist
	Into                                string // the id of the text area that what is chosen goes to
}

// As sets the type of an input.
func (f field) As(kind string) field {
	f.Type = kind
	return f
}

// From offers the values of a datalist.
func (f field) From(list string) field {
	f.List = list
	return f
}

// Field makes the input of that name.
func (p *settingsPage) Field(name, label, hint string) field {
	return field{Name: name, ID: fieldID(name), Label: label, Value: p.Form.Fields[name], Hint: hint, Wrong: p.Wrong(name)}
}

// Row makes an input in the row of a list.
func (p *settingsPage) Row(list string, row int, property, label string) field {
	f := p.Field(fmt.Sprintf("%s[%d].%s", list, row, property), label, "")
	f.Value = p.Form.Rows[list][row][property]
	return f
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

// writtenID is an id as it stands in a text area, with the name behind it.
type writtenID struct {
	Line     int // from 1, as people count them: empty ones too
	ID, Name string
}

// namedLines reads a text area of one id a line, a space, and the name.
func namedLines(text string) []writtenID {
	var list []writtenID
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		written := writtenID{Line: n, ID: line}
		if end := strings.IndexFunc(line, isSpace); end >= 0 {
			written.ID, written.Name = line[:end], strings.TrimSpace(line[end:])
		}
		list = append(list, written)
	}
	return list
}

// idLike are numbers that can only be meant as ids, right or wrong, and not as part of a name.
var idLike = regexp.MustCompile(`^[0-9]{15,}$`)

// idsOfLines reads a text area of ids only. A line may be written as elsewhere, with a name that is not kept, or be several ids.
func idsOfLines(text string) []writtenID {
	var list []writtenID
	for _, line := range namedLines(strings.NewReplacer(",", " ", ";", " ").Replace(text)) {
		list = append(list, writtenID{Line: line.Line, ID: line.ID})
		for _, word := range strings.FieldsFunc(line.Name, isSpace) {
			if idLike.MatchString(word) {
				list = append(list, writtenID{Line: line.Line, ID: word})
			}
		}
	}
	return list
}

func isSpace(r rune) bool { return strings.ContainsRune(" \t\u00a0,;", r) }

// written is what stands in the lines of a field, or nothing for one that is not written in lines.
func (f settingsForm) written(field string) []writtenID {
	parts := rowField.FindStringSubmatch(field)
	if parts == nil {
		if strings.HasPrefix(field, "ignored") {
			return idsOfLines(f.Fields[field])
		}
		return nil
	}
	if row, _ := strconv.Atoi(parts[2]); row < len(f.Rows[parts[1]]) {
		return namedLines(f.Rows[parts[1]][row][parts[3]])
	}
	return nil
}

// linesNamed is how many wrong lines are named at most; others are counted.
const linesNamed = 6

// linesWithoutID names the lines whose ids are none, so that they can all be put right at once.
func linesWithoutID(written []writtenID) string {
	var lines []string
	for _, w := range written {
		if !id.Valid(w.ID) {
			lines = append(lines, strconv.Itoa(w.Line))
		}
	}
	lines = slices.Compact(lines) // there may be several ids on one
	last := len(lines) - 1
	switch {
	case last < 1:
		return "line " + strings.Join(lines, "")
	case last < linesNamed:
		return "lines " + strings.Join(lines[:last], ", ") + " and " + lines[last]
	default:
		return "lines " + strings.Join(lines[:linesNamed], ", ") + " and " + count(len(lines)-linesNamed) + " more"
	}
}
