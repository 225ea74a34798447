package leaderboard

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"levelboard/internal/domain/fault"
)

func named(username, globalName string) User {
	return User{Username: username, GlobalName: &globalName}
}

func TestASearchFindsBeginningsOfWords(t *testing.T) {
	for _, c := range []struct {
		text    string
		names   []string
		nothing []string
	}{
		{"ann", []string{"ann", "ANN", "Anna", "aNNe Élan", "ann%", "the  Anna", "x\u00a0ann", "x\u3000ANN"}, []string{"an", "anm", "ano", "hann", "the-anna", ""}},
		{" ann ", []string{"Anna"}, []string{"hann"}},
		{"a%", []string{"a%", "A%b"}, []string{"ab", "a", "a&"}},
		{"élan", []string{"élan", "ÉLAN", "e\u0301lan", "vital ÉlaNa"}, []string{"elan", "éla"}},
		{"иван п", []string{"иван п", "ИВАН ПЕТРОВ", "Пётр Иванов"}, []string{"иван", "ивана"}},
		{"istanbul", []string{"İSTANBUL", "ıstanbul", "Istanbul", "i\u0307stanbul"}, nil},
		{"i\u0307stan", []string{"İSTANBUL", "istanbul"}, nil},
		{"straße", []string{"STRASSE", "STRAẞE"}, []string{"strase"}},
		{"ΣΊΣΥΦΟΣ", []string{"σίσυφος"}, nil},
		{"α", []string{"Αικατερίνη", "ΑΙ", "ᾳ", "αᾳ"}, []string{"ά", "ι"}}, // a subscript is not a letter
		{"μα", []string{"Μαΐου", "ΜΑΙ", "μᾳ"}, []string{"μά"}},
		{"ⴀ", []string{"Ⴀ", "ⴀ"}, nil},
		{"𐐨", []string{"𐐀x"}, nil},
		{"😀😀", []string{"😀😀", "😀😀x"}, []string{"😀", "😁😀"}},
	} {
		q, err := ParseQuery(c.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range c.names {
			if !q.Matches(named(name, "")) || !q.Matches(named("", name)) {
				t.Errorf("%q does not find %q", c.text, name)
			}
		}
		for _, name := range c.nothing {
			if q.Matches(named(name, name)) {
				t.Errorf("%q finds %q", c.text, name)
			}
		}
	}
}

// FuzzQuery checks that Matches agrees with the words that a store looks up in its index.
func FuzzQuery(f *testing.F) {
	for _, seed := range [][2]string{{"ann", "Anna B"}, {"a b", "b a"}, {"İ", "i"}, {"\ud7ff", "\ue000"}, {"\U0010ffff", "\U0010ffffx"}, {"ß", "SS"}, {" \u3000x", "X"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		q, err := ParseQuery(text)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%q: %v, want fault.Invalid", text, err)
			}
			return
		}
		if !utf8.ValidString(name) || len(name) > 256 {
			return
		}
		words, from, before := Words(User{Username: name}), "", ""
		if from, before = q.Longest(); !utf8.ValidString(before) || before <= from {
			t.Fatalf("the span of %q is from %q to %q, want a valid one", text, from, before)
		}
		all, inSpan := true, false
		for _, b := range q.Beginnings() {
			all = all && strings.Contains(" "+words, b)
		}
		for _, w := range strings.Fields(words) {
			if len(w) > longestWord {
				t.Fatalf("a word of %q has %d bytes, want at most %d", name, len(w), longestWord)
			}
			if in := from <= w && w < before; in != strings.HasPrefix(w, from) {
				t.Fatalf("%q is in the span of %q: %v, want it by its beginning", w, from, in)
			} else if in {
				inSpan = true
			}
		}
		if q.Matches(User{Username: name}) != all || all && !inSpan {
			t.Fatalf("%q and %q: matches %v, all begin words %v, in the span %v", text, name, !all, all, inSpan)
		}
	})
}

// A name is found in any case and with any form of its accents.
func TestASearchIgnoresCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.RuneFrom(nil, unicode.Letter), 1, 8, 32).Draw(t, "name")
		for _, text := range []string{name, strings.ToLower(name)} {
			if q, err := ParseQuery(text); err != nil || !q.Matches(named("x "+name, "")) {
				t.Fatalf("%q (%+q) does not find %q (%v)", text, text, name, err)
			}
		}
	})
}

func TestASearchNeedsALetter(t *testing.T) {
	for _, given := range []string{"", " ", strings.Repeat("a", 65), strings.Repeat("é", 65), strings.Repeat(" ", 63) + "aa", "a\x00b", "a\nb", "\xff\xfe", "a\u0085b"} {
		if _, err := ParseQuery(given); !fault.Is(err, fault.Invalid) {
			t.Errorf("the search %q: %v, want fault.Invalid", given, err)
		}
	}
	for _, given := range []string{"a", "  ab ", "é", strings.Repeat("😀", 64), strings.Repeat("a", 64)} {
		if _, err := ParseQuery(given); err != nil {
			t.Errorf("the search %q: %v, want it accepted", given, err)
		}
	}
}

// A word that occurs twice, or begins another one, does not count. More than eight words are refused.
func TestASearchHasAtMostEightWords(t *testing.T) {
	q, err := ParseQuery(strings.TrimSpace(strings.Repeat("a ", 30)))
	if err != nil || len(q.Beginnings()) != 1 || !q.Matches(named("anna", "")) || q.Matches(named("hanna", "")) {
		t.Errorf("one letter thirty times makes the words %q (%v), want one", q.Beginnings(), err)
	}
	q, err = ParseQuery("an b anna ann bo")
	if err != nil || len(q.Beginnings()) != 2 || !q.Matches(named("Bob Annabel", "")) || q.Matches(named("Annabel b", "")) {
		t.Errorf("beginnings of other words make %q (%v), want two words", q.Beginnings(), err)
	}
	if _, err := ParseQuery("a b c d e f g h"); err != nil {
		t.Errorf("eight words: %v, want them accepted", err)
	}
	if _, err := ParseQuery("a b c d e f g h i"); !fault.Is(err, fault.Invalid) {
		t.Errorf("nine words: %v, want fault.Invalid", err)
	}
}
