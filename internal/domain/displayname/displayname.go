// Package displayname defines what is visible in a text. People name themselves with spaces, with letters that have no
// ink and with marks that cannot be seen; pages, cards and the names of keys share this one rule. It escapes nothing.
package displayname

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxText is how many bytes of a text are read. More never fit.
	maxText = 1024
	// maxMarks is how many combining marks a letter keeps. No language needs more, and piles of them cover the text around.
	maxMarks = 3
	joiner   = '\u200d'
)

// Any reports whether a text shows anything, which means that Clean would not return "". It does not allocate.
func Any(text string) bool {
	for _, r := range text[:min(len(text), maxText)] {
		if !isBlank(r) && !unicode.Is(unicode.M, r) && !isShapeless(r) {
			return true
		}
	}
	return false
}

// Clean makes text safe to draw on one line: valid, composed, without control characters and marks that change the direction
// of text, and without spaces at its ends. It returns "" for a text that shows nothing. It reads only the first 1,024 bytes.
func Clean(text string) string {
	text = norm.NFC.String(strings.ToValidUTF8(text[:min(len(text), maxText)], "\ufffd"))
	var out strings.Builder
	var last rune // the last rune written; 0 if none
	marks := 0
	for _, r := range text {
		switch {
		case isBlank(r):
			r = ' '
			fallthrough
		case r == joiner || r == ' ':
			if last == 0 || last == ' ' || last == joiner {
				continue
			}
			marks = 0
		case unicode.Is(unicode.M, r):
			if marks++; last == 0 || last == ' ' || marks > maxMarks {
				continue
			}
		case isShapeless(r):
			continue
		default:
			marks = 0
		}
		out.WriteRune(r)
		last = r
	}
	return strings.TrimRight(out.String(), " \u200d")
}

// isBlank finds what looks like a space. Some letters without ink are also blank; people name themselves with them.
func isBlank(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0':
		return true
	}
	return unicode.IsSpace(r) || unicode.Is(unicode.Z, r)
}

// isShapeless finds runes that are never drawn. A joiner is not one of them: Clean keeps it between the letters that it joins.
func isShapeless(r rune) bool { return !unicode.IsGraphic(r) || isNoncharacter(r) }

// isNoncharacter finds the code points that Unicode reserves forever; XML forbids some of them.
func isNoncharacter(r rune) bool {
	return r&0xfffe == 0xfffe || (r >= 0xfdd0 && r <= 0xfdef)
}
