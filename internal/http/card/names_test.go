package card

import (
	"slices"
	"testing"
	"unicode/utf8"
)

func TestClusters(t *testing.T) {
	for text, want := range map[string][]string{
		"":               nil,
		"ab":             {"a", "b"},
		"x\u0335\u0336y": {"x\u0335\u0336", "y"},
		"👩‍🚀!":           {"👩‍🚀", "!"},
		"👍🏽👍":            {"👍🏽", "👍"},
		"🇩🇪🇫🇷🇮":          {"🇩🇪", "🇫🇷", "🇮"},
		"❤️a":            {"❤️", "a"},
	} {
		if got := clusters(text); !slices.Equal(got, want) {
			t.Errorf("clusters(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestInitial(t *testing.T) {
	latin := func(r rune) bool { return r < 0x100 }
	for _, c := range []struct {
		name string
		can  func(rune) bool
		want string
	}{
		{"ada", anything, "A"}, {"★ éva", anything, "É"}, {"日本", anything, "日"}, {"日 ada", latin, "A"}, {"7of9", anything, "7"},
		{"👩‍🚀", anything, "👩‍🚀"}, {"-_-", anything, "-"}, {"日", latin, ""}, {"ÿ", latin, "ÿ"},
	} {
		if got := initial(c.name, c.can); got != c.want {
			t.Errorf("initial(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheNameIsTheFirstThatCanBeDrawn(t *testing.T) {
	bold := newTypesetter(nil)
	for _, c := range []struct {
		global, username string
		can              func(rune) bool
		want             string
	}{
		{"Ada", "ada", anything, "Ada"}, {"", "ada", anything, "ada"}, {"\u202e", "ada", anything, "ada"},
		{"", "", anything, "42"}, {"日本", "nihon", anything, "日本"}, {"日本", "nihon", bold.has, "nihon"},
		{"日本 go", "nihon", bold.has, "日本 go"}, {"日本", "日", bold.has, "42"},
	} {
		if got := displayName(Data{UserID: "42", GlobalName: c.global, Username: c.username}, c.can); got != c.want {
			t.Errorf("the name of %q, %q is %q, want %q", c.global, c.username, got, c.want)
		}
	}
}

func TestFitCutsBetweenCharacters(t *testing.T) {
	each := func(s string) float64 { return float64(len(clusters(s))) }
	for _, c := range []struct {
		text  string
		width float64
		want  string
	}{
		{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"abc def", 5, "abc…"}, {"👩‍🚀👩‍🚀👩‍🚀", 2, "👩‍🚀…"}, {"abc", 1, "…"}, {"abc", 0, "…"},
	} {
		if got := fit(c.text, c.width, each); got != c.want || !utf8.ValidString(got) {
			t.Errorf("fit(%q, %v) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
