// Package displayname says what of a text can be seen. People name themselves with spaces, with letters that have no ink and with marks
// that no eye finds; pages, cards and the names of keys are held to this one rule. It escapes nothing.
package displayname

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxText is how many bytes of a text are looked at. More never fit.
	maxText = 1024
	// maxMarks is how many combining marks a letter keeps. No language needs more; piles of them draw over everything.
	maxMarks = 3
	joiner   = '\u200d'
)

// Any reports whether a text shows anything: whether Clean leaves something of it. It does not allocate.
func Any(text string) bool {
	for _, r := range text[:min(len(text), maxText)] {
		if !isBlank(r) && !unicode.Is(unicode.M, r) && !isShapeless(r) {
			return true
		}
	}
	return false
}

// Clean makes text safe to draw on one line: valid, composed, without control characters and marks that turn the direction of text, and
// without spaces at its ends. It is empty for a text that shows nothing. Only the first 1,024 bytes are taken.
func Clean(text string) string {
	text = norm.NFC.String(strings.ToValidUTF8(text[:min(len(text), maxText)], "\ufffd"))
	var out strings.Builder
	var last rune // that was written; 0 is none
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

// isBlank finds what looks like a space: also some letters that have no ink, which people name themselves with.
func isBlank(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0':
		return true
	}
	return unicode.IsSpace(r) || unicode.Is(unicode.Z, r)
}

// isShapeless finds what is not drawn at all. A joiner is, which Clean keeps between what it joins.
func isShapeless(r rune) bool { return !unicode.IsGraphic(r) || isNoncharacter(r) }

// isNoncharacter finds what Unicode sets aside for good; XML refuses some of it.
func isNoncharacter(r rune) bool {
	return r&0xfffe == 0xfffe || (r >= 0xfdd0 && r <= 0xfdef)
}
