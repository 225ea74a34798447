package web

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"levelboard/internal/guild"
	"levelboard/internal/id"
	"levelboard/internal/level"
	"levelboard/internal/settings"
)

// wrongs are the errors of a form, by the name of the field that each stands beside.
type wrongs struct {
	Order   []string // names of fields, as they stand on the page; "" for the whole form
	byField map[string]string
}

func (w *wrongs) add(field, message string) {
	if w.byField == nil {
		w.byField = map[string]string{}
	}
	if _, ok := w.byField[field]; !ok {
		w.Order = append(w.Order, field)
	}
	w.byField[field] = message
}

// pathParts splits a path of the document into the field of the form, the item of a list in that field, and its property.
var pathParts = regexp.MustCompile(`^((?:multipliers|roleRewards)\[\d+\]\.\w+|\w*)(?:\[(\d+)\])?(?:\.(\w+))?$`)

// place finds the field that an error belongs to and words the error for somebody who sees a form and no JSON.
func (p *settingsPage) place(w settings.Wrong) (field, message string) {
	parts := pathParts.FindStringSubmatch(w.Path)
	if parts == nil {
		return "", sentence(strings.TrimSuffix(w.Message, "."))
	}
	field = parts[1]
	if errors.Is(w.Cause, guild.ErrCrossed) {
		return p.crossed()
	}
	message = strings.TrimSuffix(strings.TrimSuffix(w.Message, "."), ", not a string") // every field is text
	property := parts[3]
	noID := errors.Is(w.Cause, id.ErrSnowflake)
	if noID {
		property, message = "id", w.Cause.Error()
	}
	if property != "" {
		message = "the " + property + " " + message
	}
	if parts[2] != "" {
		n, _ := strconv.Atoi(parts[2])
		switch written := p.Form.written(field); {
		case n >= len(written):
			message = fmt.Sprintf("%s %d: %s", itemName(field), n+1, message)
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
	least, most := strings.TrimSpace(p.Form.Min), strings.TrimSpace(p.Form.Max)
	if least == strconv.Itoa(p.Guild.XPPerMessageMin) {
		return "xpPerMessageMax", fmt.Sprintf("The most must not be below the least, but %s is below %s.", most, least)
	}
	return "xpPerMessageMin", fmt.Sprintf("The least must not be above the most, but %s is above %s.", least, most)
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return "This is not right."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func itemName(field string) string {
	if field == "curve" {
		return "coefficient"
	}
	return "entry"
}

// propose judges the form and puts what is wrong beside its fields.
func (p *settingsPage) propose() (settings.Proposal, bool, error) {
	proposal, wrong, err := settings.Propose(p.Guild.Settings, p.Form.given(p.Guild))
	for _, w := range wrong {
		p.Wrongs.add(p.place(w))
	}
	return proposal, err == nil && len(wrong) == 0, err
}

// curve is the curve in the form, and whether it is right and another one than the saved.
func (p *settingsPage) curve() (level.Curve, bool) {
	one := settings.Given{"curve": encode(p.Form.curve())}
	proposal, wrong, err := settings.Propose(p.Guild.Settings, one)
	if err != nil || len(wrong) > 0 {
		return level.Curve{}, false
	}
	curve := proposal.Settings().Curve
	return curve, !curve.Equal(p.Guild.Curve)
}

// field is one input of the form, for the templates input and area.
type field struct {
	Name, ID, Label, Value, Hint, Wrong string
}

// Field makes the input of that name.
func (p settingsPage) Field(name, label, value, hint string) field {
	return field{Name: name, ID: fieldID(name), Label: label, Value: value, Hint: hint, Wrong: p.Wrongs.byField[name]}
}

// Row makes an input in the row of a list.
func (p settingsPage) Row(list string, row int, name, label, value string) field {
	return p.Field(fmt.Sprintf("%s[%d].%s", list, row, name), label, value, "")
}

// Wrong is the error beside a field, or empty.
func (p settingsPage) Wrong(name string) string { return p.Wrongs.byField[name] }

// Number is how people count row i of a list.
func (settingsPage) Number(i int) int { return i + 1 }

// Letter is what the page calls coefficient i.
func (settingsPage) Letter(i int) string { return "abcde"[i : i+1] }

// Pause says in words how long the pause between messages is, as it stands in the form; nothing of what cannot be one.
func (p settingsPage) Pause() string {
	ms, err := strconv.ParseInt(strings.TrimSpace(p.Form.Interval), 10, 64)
	if err != nil || ms < 10_000 || ms > 86_400_000 {
		return ""
	}
	return "; now " + inWords(time.Duration(ms)*time.Millisecond)
}

// NameOf is what to call a member of the preview.
func (settingsPage) NameOf(m settings.Moved) string {
	name, _ := displayName(m.User, string(m.UserID))
	return name
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

// problemLink is an error in the list at the top of the form.
type problemLink struct{ ID, Label, Message string }

// Problems lists every error, so that none is out of sight.
func (p settingsPage) Problems() []problemLink {
	var list []problemLink
	for _, name := range p.Wrongs.Order {
		list = append(list, problemLink{ID: fieldID(name), Label: fieldLabel(name), Message: p.Wrongs.byField[name]})
	}
	return list
}

// fieldLabels are what the properties of the document are called on the page.
var fieldLabels = map[string]string{
	"enabled": "Leveling", "visibility": "Who may see the leaderboard", "vanity": "Short name", "curve": "Curve",
	"xpGainInterval": "Pause between messages", "xpPerMessageMin": "Least XP for a message", "xpPerMessageMax": "Most XP for a message",
	"xpGlobalMultiplier": "Multiplier for everything", "ignoredChannelIds": "Ignored channels", "ignoredRoleIds": "Ignored roles",
	"multipliers": "Multipliers", "roleRewards": "Role rewards",
}

func fieldLabel(name string) string {
	property, rest, inRow := strings.Cut(name, "[")
	label := fieldLabels[property]
	if number, _, ok := strings.Cut(rest, "]"); inRow && ok {
		n, _ := strconv.Atoi(number)
		label = fmt.Sprintf("%s, row %d", label, n+1)
	}
	if label == "" {
		return "The settings"
	}
	return label
}
