package leaderboard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"levelboard/internal/domain/fault"
)

const (
	// maxSearch is how many characters of a name may be looked for.
	maxSearch = 64
	// longestName is how many bytes a name has at most (User).
	longestName = 256
)

// NameSpan is the names that begin with a text: those whose folded form is at least From and below Before, byte by byte. Folding makes A to
// Z lower case and nothing else, which every archive can index and no locale changes.
type NameSpan struct {
	From, Before string
}

// spansOf returns the names meant by the beginning of one. ASCII letters match in either case; other letters as written, in lower or upper
// case, or with the first letter of the text or of each word in upper case.
func spansOf(text string) (spans []NameSpan) {
	lower := strings.ToLower(text)
	for _, form := range []string{text, lower, strings.ToUpper(text), upperFirst(lower, false), upperFirst(lower, true)} {
		from := foldASCII(form)
		if span := (NameSpan{from, after(from)}); !slices.Contains(spans, span) {
			spans = append(spans, span)
		}
	}
	return spans
}

// upperFirst makes the first character of the text upper case, or the first of each word.
func upperFirst(text string, eachWord bool) string {
	begins := true
	return strings.Map(func(r rune) rune {
		wasFirst := begins
		begins = eachWord && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		if wasFirst {
			return unicode.ToUpper(r)
		}
		return r
	}, text)
}

func foldASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// after is the lowest text above all that begin with prefix, or one above every name.
func after(prefix string) string {
	for prefix != "" {
		last, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		switch {
		case last == 0xd7ff: // what follows it is not a character
			return prefix + "\ue000"
		case last < utf8.MaxRune:
			return prefix + string(last+1)
		}
	}
	return strings.Repeat(string(utf8.MaxRune), longestName/utf8.UTFMax+1)
}

// searchText checks what somebody looks for, without the space around it. Its error is an Invalid fault.
func searchText(given string) (string, error) {
	text := strings.TrimSpace(given)
	switch {
	case utf8.RuneCountInString(given) > maxSearch:
		return "", fault.New(fault.Invalid, "Search for at most %d characters of a name.", maxSearch)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return "", fault.New(fault.Invalid, "Search for the beginning of a name, in UTF-8 and without control characters, or for a user id.")
	case text == "":
		return "", fault.New(fault.Invalid, "Search for the beginning of a name, or for a user id.")
	}
	return text, nil
}
