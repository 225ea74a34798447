package web

import (
	"fmt"
	"strings"
)

// difference is a property that is saved otherwise than a form has it.
type difference struct{ Label, Saved, Mine string }

// differences compares what is saved with what a form would save.
func differences(saved, mine settingsForm) []difference {
	found := []difference{}
	for _, p := range settingsProperties {
		if a, b := saved.inWords(p.name), mine.inWords(p.name); a != b {
			found = append(found, difference{p.label, shortened(a), shortened(b)})
		}
	}
	return found
}

// inWords is what the form says of a property.
func (f settingsForm) inWords(property string) string {
	var text strings.Builder
	switch property {
	case "enabled":
		return map[bool]string{true: "on", false: "off"}[f.Fields[property] != ""]
	case "curve":
		if f.Fields[property] == ownCurve {
			coefficients := f.Coefficients()
			return strings.TrimSpace(strings.Join(coefficients[:], " "))
		}
	case multipliers:
		for _, m := range f.Rows[property] {
			fmt.Fprintf(&text, "%s × %s: %s", m["type"], m["multiplier"], m["targets"])
		}
		return text.String()
	case roleRewards:
		for _, r := range f.Rows[property] {
			stays := ""
			if r["stack"] == "" {
				stays = " (does not stay)"
			}
			fmt.Fprintf(&text, "Level %s%s: %s", r["level"], stays, r["roles"])
		}
		return text.String()
	}
	return f.Fields[property]
}

// shortened keeps a list of two hundred roles from filling the page.
func shortened(s string) string {
	runes := []rune(strings.TrimSpace(s))
	if len(runes) > 300 {
		return string(runes[:300]) + " …"
	}
	if len(runes) == 0 {
		return "nothing"
	}
	return string(runes)
}
