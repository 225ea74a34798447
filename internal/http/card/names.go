package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"levelboard/internal/domain/displayname"
)

const joiner = '\u200d'

// clusters splits cleaned text into what a reader takes for one character: a base with its marks, a joined emoji, a flag.
func clusters(text string) []string {
	var found []string
	begin, flags := 0, 0
	var last rune
	for at, r := range text {
		if isFlagLetter(r) {
			flags++
		} else {
			flags = 0
		}
		joined := unicode.Is(unicode.M, r) || isSkinTone(r) || r == joiner || last == joiner || (flags > 0 && flags%2 == 0)
		if at > 0 && !joined {
			found = append(found, text[begin:at])
			begin = at
		}
		last = r
	}
	if begin < len(text) {
		found = append(found, text[begin:])
	}
	return found
}

func isFlagLetter(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// displayName is the first of the member's names that shows anything: of which can says that a character can be drawn.
func displayName(d Data, can func(rune) bool) string {
	for _, name := range []string{d.GlobalName, d.Username} {
		name = displayname.Clean(name)
		if strings.ContainsFunc(name, func(r rune) bool { return r != ' ' && can(r) }) {
			return name
		}
	}
	return displayname.Clean(d.UserID)
}

// initial is what stands in the place of an avatar: the name's first letter or digit, or else whatever it begins with.
func initial(name string, can func(rune) bool) string {
	for _, r := range name {
		if !can(r) || (!unicode.IsLetter(r) && !unicode.IsDigit(r)) {
			continue
		}
		if upper := unicode.ToUpper(r); can(upper) {
			return string(upper)
		}
		return string(r)
	}
	for _, c := range clusters(name) {
		if r, _ := utf8.DecodeRuneInString(c); can(r) {
			return c
		}
	}
	return ""
}

// fit cuts text to a width, at the end of a cluster, and shows by an ellipsis that it did.
func fit(text string, width float64, measure func(string) float64) string {
	if measure(text) <= width {
		return text
	}
	room := width - measure("…")
	kept, used := 0, 0.0
	for _, c := range clusters(text) {
		if used += measure(c); used > room {
			break
		}
		kept += len(c)
	}
	return strings.TrimRight(text[:kept], " ") + "…"
}
