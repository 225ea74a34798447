package displayname_test

import (
	"strings"
	"testing"

	"levelboard/internal/domain/displayname"
)

// cleaned maps texts to their visible parts.
var cleaned = map[string]string{
	"":                                       "",
	"Ada":                                    "Ada",
	"  Ada \t\n Lovelace  ":                  "Ada Lovelace",
	"a\x00b\x1b[31mc\u0085d":                 "ab[31mc d",
	"bad \xff\xfe bytes":                     "bad \ufffd bytes",
	"\u202eevil\u202c \u2066x\u2069\u200f":   "evil x",
	"e\u0301":                                "é",
	"a" + strings.Repeat("\u0335", 50) + "b": "a\u0335\u0335\u0335b",
	"\u0301\u0301x":                          "x",
	"\u0301 \ufe0f":                          "",
	"   ":                                    "",
	"\u200b\u200d\ufeff":                     "",
	"\u3164\u2800\u115f":                     "",
	"\u200b\u200c\ufeff\u00ad":               "",
	"\u202e\u2066":                           "",
	"a\ufffe\uffffb\U0001fffe":               "ab",
	"a\ue000b":                               "ab",
	"👩‍🚀 crew":                               "👩‍🚀 crew",
	"\u200d\u200dx\u200d\u200d":              "x",
	"x\u2028y\u2029z":                        "x y z",
	"مرحبا 日本語":                              "مرحبا 日本語",
	strings.Repeat("x", 100000):              strings.Repeat("x", 1024),
	strings.Repeat(" ", 1024) + "x":          "",
}

func TestCleanKeepsTheVisibleText(t *testing.T) {
	for text, want := range cleaned {
		if got := displayname.Clean(text); got != want {
			t.Errorf("Clean(%.60q) = %.60q, want %.60q", text, got, want)
		}
		if got := displayname.Any(text); got != (want != "") {
			t.Errorf("Any(%.60q) = %v, want %v", text, got, want != "")
		}
	}
}

func FuzzAnyIsWhatCleanLeaves(f *testing.F) {
	for text := range cleaned {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if clean := displayname.Clean(text); displayname.Any(text) != (clean != "") {
			t.Errorf("Any(%q) = %v, but Clean leaves %q", text, displayname.Any(text), clean)
		}
	})
}
