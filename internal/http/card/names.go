package card

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/segmenter"

	"levelboard/internal/domain/displayname"
)

// clusters splits cleaned text into what a reader sees as one character: a letter with its marks, a joined emoji, a flag.
func clusters(text string) (found []string) {
	var s segmenter.Segmenter
	s.Init([]rune(text))
	for graphemes := s.GraphemeIterator(); graphemes.Next(); {
		found = append(found, string(graphemes.Grapheme().Text))
	}
	return found
}

// clusterStarts reports at which positions of a text a cluster begins.
func clusterStarts(text []rune) []bool {
	var s segmenter.Segmenter
	s.Init(text)
	starts := make([]bool, len(text))
	for graphemes := s.GraphemeIterator(); graphemes.Next(); {
		starts[graphemes.Grapheme().Offset] = true
	}
	return starts
}

// displayName returns the first of the member's names with a character that can be drawn; can decides that.
func displayName(d Data, can func(rune) bool) string {
	for _, name := range []string{d.GlobalName, d.Username} {
		name = displayname.Clean(name)
		if strings.ContainsFunc(name, func(r rune) bool { return r != ' ' && can(r) }) {
			return name
		}
	}
	return displayname.Clean(d.UserID)
}

// initial returns what stands in place of an avatar: the name's first letter or digit, else its first character.
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

// fit cuts text to a width, at the end of a cluster, and marks the cut with an ellipsis. It
// measures the whole text each time, since letters may join and have no width of their own.
func fit(text string, width float64, measure func(string) float64) string {
	if measure(text) <= width {
		return text
	}
	cut := []string{"…"}
	kept := ""
	for _, c := range clusters(text) {
		kept += c
		cut = append(cut, strings.TrimRight(kept, " ")+"…")
	}
	tooLong := sort.Search(len(cut), func(i int) bool { return measure(cut[i]) > width })
	return cut[max(0, tooLong-1)]
}
