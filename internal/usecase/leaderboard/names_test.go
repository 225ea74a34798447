package leaderboard

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"levelboard/internal/domain/fault"
)

func matches(spans []NameSpan, name string) bool {
	folded := foldASCII(name)
	return slices.ContainsFunc(spans, func(s NameSpan) bool { return s.From <= folded && folded < s.Before })
}

func TestWhatASearchMeans(t *testing.T) {
	for _, c := range []struct {
		text    string
		names   []string
		nothing []string
	}{
		{"ann", []string{"ann", "ANN", "Anna", "aNNe Élan", "ann%"}, []string{"an", "anm", "ano", "hann", ""}},
		{"a%", []string{"a%", "A%b"}, []string{"ab", "a", "a&"}},
		{"a_", []string{"a_b"}, []string{"ab", "a`"}},
		{"élan", []string{"élan", "Élan", "ÉLAN", "éLAN", "ÉlaNa"}, []string{"elan", "éla"}},
		{"иван п", []string{"иван п", "Иван П", "ИВАН ПЕТРОВ", "Иван петров"}, []string{"иван", "ивана"}},
		{"ИВ", []string{"иван", "Иван", "ИВАН"}, []string{"авив"}},
		{"😀😀", []string{"😀😀", "😀😀x"}, []string{"😀", "😁😀"}},
		{"a\ud7ff", []string{"a\ud7ff", "A\ud7ffb"}, []string{"a\ue000", "a"}},
		{strings.Repeat("\U0010ffff", 2), []string{strings.Repeat("\U0010ffff", 64)}, []string{"\U0010ffff"}},
	} {
		spans := spansOf(c.text)
		for _, name := range c.names {
			if !matches(spans, name) {
				t.Errorf("%q does not find %q", c.text, name)
			}
		}
		for _, name := range c.nothing {
			if matches(spans, name) {
				t.Errorf("%q finds %q", c.text, name)
			}
		}
	}
}

func TestASpanIsWhatBeginsWithAText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.StringN(1, 8, 32).Draw(t, "prefix")
		name := rapid.OneOf(rapid.StringN(0, 10, 64), rapid.Map(rapid.String(), func(s string) string { return prefix + s })).Draw(t, "name")
		from, before := foldASCII(prefix), after(foldASCII(prefix))
		if !utf8.ValidString(before) {
			t.Fatalf("%q ends at %q", prefix, before)
		}
		folded := foldASCII(name)
		if len(folded) > longestName {
			return
		}
		if in := from <= folded && folded < before; in != strings.HasPrefix(folded, from) {
			t.Fatalf("%q in the span of %q: %v", name, prefix, in)
		}
		if spans := spansOf(prefix); len(spans) > 5 || !matches(spans, prefix) {
			t.Fatalf("%q has the spans %q", prefix, spans)
		}
	})
}

func TestWhatIsNoSearch(t *testing.T) {
	for _, given := range []string{"", " ", strings.Repeat("a", 65), strings.Repeat("é", 65), strings.Repeat(" ", 63) + "aa", "a\x00b", "a\nb", "\xff\xfe", "a\u0085b"} {
		if _, err := searchText(given); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", given, err)
		}
	}
	for given, want := range map[string]string{"a": "a", "  ab ": "ab", "é": "é", strings.Repeat("😀", 64): strings.Repeat("😀", 64), strings.Repeat("a", 64): strings.Repeat("a", 64)} {
		if got, err := searchText(given); got != want || err != nil {
			t.Errorf("%q: %q, %v", given, got, err)
		}
	}
}
