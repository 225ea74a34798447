package leaderboard

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
)

const (
	// maxSearch is the length of the longest search, in characters.
	maxSearch = 64
	// maxSearchWords bounds the words of one search, since each is compared with every candidate.
	maxSearchWords = 8
	// longestWord is the length of the longest folded word in bytes: a name has up to 256 (User), and folding at most triples them.
	longestWord = 768
)

// Query is a search: the folded beginnings of words in a name, longest first. A member matches if each beginning begins one of their words.
type Query struct{ beginnings []string }

// ParseQuery reads the text of a search, of 1 to 64 characters. It returns an Invalid fault for a text that cannot be in a name.
func ParseQuery(text string) (Query, error) {
	switch {
	case utf8.RuneCountInString(text) > maxSearch:
		return Query{}, fault.New(fault.Invalid, "Search for at most %d characters of a name.", maxSearch)
	case !utf8.ValidString(text) || strings.ContainsFunc(strings.TrimSpace(text), unicode.IsControl):
		return Query{}, fault.New(fault.Invalid, "Search for the beginning of a name, in UTF-8 and without control characters.")
	}
	q := Query{foldedWords(text)}
	if len(q.beginnings) == 0 {
		return Query{}, fault.New(fault.Invalid, "Search for the beginning of a name.")
	}
	slices.SortStableFunc(q.beginnings, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	// Drop a beginning that a longer one begins with, since all matches of the longer one match it too. So repeated words cost nothing.
	var needed []string
	for _, b := range q.beginnings {
		if !slices.ContainsFunc(needed, func(longer string) bool { return strings.HasPrefix(longer, b) }) {
			needed = append(needed, b)
		}
	}
	if len(needed) > maxSearchWords {
		return Query{}, fault.New(fault.Invalid, "Search for at most %d words of a name.", maxSearchWords)
	}
	return Query{needed}, nil
}

// Longest returns the range of the words that begin with the longest beginning: from <= word < before, compared byte by byte.
func (q Query) Longest() (from, before string) { return q.beginnings[0], after(q.beginnings[0]) }

// oneLetter reports whether no beginning is longer than one letter.
func (q Query) oneLetter() bool { return utf8.RuneCountInString(q.beginnings[0]) == 1 }

// Beginnings returns each beginning with a space before it. A result of Words matches if " " + result contains all of them.
func (q Query) Beginnings() []string {
	all := make([]string, len(q.beginnings))
	for i, b := range q.beginnings {
		all[i] = " " + b
	}
	return all
}

// Matches reports whether the query finds a member with these names.
func (q Query) Matches(u User) bool {
	words := " " + Words(u)
	return !slices.ContainsFunc(q.beginnings, func(b string) bool { return !strings.Contains(words, " "+b) })
}

// Words returns the different words of the names, folded, with spaces between them.
func Words(u User) string {
	words := foldedWords(u.Username)
	if u.GlobalName != nil {
		words = append(words, foldedWords(*u.GlobalName)...)
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

func foldedWords(name string) []string {
	words := strings.Fields(name)
	for i, w := range words {
		words[i] = fold(w)
	}
	return words
}

// fold makes texts equal that differ only in case, by Unicode's full case folding. It also
// makes equal the dotted and the dotless Turkish i, and composed and decomposed accents.
func fold(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(text)
	}
	text = strings.NewReplacer("i\u0307", "i", "ı", "i").Replace(cases.Fold().String(norm.NFD.String(text)))
	return norm.NFC.String(strings.Map(firstCase, text))
}

// firstCase returns the lowest of the letters that differ from r only in case, since cases.Fold leaves Cherokee letters as they are. It never
// returns the iota subscript for another letter, because the subscript would merge with the letter before it.
func firstCase(r rune) rune {
	first := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if !unicode.Is(unicode.Mn, other) {
			first = min(first, other)
		}
	}
	if first < utf8.RuneSelf {
		return unicode.ToLower(first)
	}
	return first
}

// after returns the lowest text above all texts that begin with prefix, or a text above every word.
func after(prefix string) string {
	for prefix != "" {
		last, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		switch {
		case last == 0xd7ff: // the next number is not a character
			return prefix + "\ue000"
		case last < utf8.MaxRune:
			return prefix + string(last+1)
		}
	}
	return strings.Repeat(string(utf8.MaxRune), longestWord/utf8.UTFMax+1)
}

// byRank sorts members by rank and removes duplicates.
func byRank(all []Ranked) []Ranked {
	slices.SortFunc(all, func(a, b Ranked) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.UserID, b.UserID)) })
	seen := make(map[id.User]bool, len(all))
	return slices.DeleteFunc(all, func(m Ranked) bool {
		again := seen[m.UserID]
		seen[m.UserID] = true
		return again
	})
}
