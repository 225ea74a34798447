package announcement

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// ann returns an announcement with a text.
func ann(text string) *Announcement {
	return &Announcement{Kind: Discord, Events: []Event{LevelUp, PeriodOf}, Text: &text, From: 1, Every: 1, Mention: true}
}

var reached = Reached{UserID: "100000000000000002", Name: "Ada*", Level: 10, Previous: 9, XP: 4150, Rank: 3, Roles: []string{"Regular", "V_I_P"}, Guild: "Gophers"}

func TestTextsOfLevelUpsAreRendered(t *testing.T) {
	for text, want := range map[string]string{
		"{user} {name} {level} {previousLevel} {xp} {rank}": `<@100000000000000002> Ada\* 10 9 4150 3`,
		"{guild}: {roles}": `Gophers: Regular, V\_I\_P`,
		"{{user} and }}":   "{user} and }}",
		"{#roles}with{/roles}{^roles}without{/roles}":             "with",
		"a{#level.10}ten{/level.10}{#level.11}no{/level.11}":      "aten",
		"a{^level.11}not 11{/level.11}":                           "anot 11",
		"{#roles}a{#level.10}b{^rank}c{/rank}{/level.10}{/roles}": "ab",
		"{name} and {first}{period}":                              `Ada\* and`,
		"**{level}** <@1>":                                        "**10** <@1>",
		"only {first}":                                            "<@100000000000000002> has reached level 10! New: Regular, V\\_I\\_P.",
		"only {#first}x{/first}":                                  "<@100000000000000002> has reached level 10! New: Regular, V\\_I\\_P.",
		"{#level.5}x{/level.5}":                                   "",
		" \n ":                                                    "",
		"just this":                                               "just this",
	} {
		if got := ann(text).LevelUp(reached); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	silent := ann("{user}")
	silent.Mention = false
	if got := silent.LevelUp(reached); got != `Ada\*` {
		t.Errorf("without a mention the text is %q, want the escaped name", got)
	}
	plain := reached
	plain.Roles = nil
	own := &Announcement{Mention: true}
	if got := own.LevelUp(plain); got != "<@100000000000000002> has reached level 10!" {
		t.Errorf("the default text is %q, want it to name the level 10", got)
	}
}

func TestTextsOfPeriodsAreRendered(t *testing.T) {
	over := Closed{Period: "2026-W48", Winners: [3]string{"Ada", "", "[Bob](x)"}, Guild: "Gophers"}
	for text, want := range map[string]string{
		"{period} {guild}: {first} {second} {third}":    `2026-W48 Gophers: Ada  \[Bob\](x)`,
		"{#second}2nd{/second}{^second}no 2nd{/second}": "no 2nd",
		"{level} only":                "2026-W48 is over.\n🥇 Ada\n🥉 \\[Bob\\](x)",
		"{#level.3}x{/level.3}":       "2026-W48 is over.\n🥇 Ada\n🥉 \\[Bob\\](x)",
		"{level}{name} {period}":      "2026-W48",
		"{guild} for both":            "Gophers for both",
		"{^level}over{/level}{first}": "overAda",
	} {
		if got := ann(text).PeriodOver(over); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestInvalidTextsAreExplained(t *testing.T) {
	for text, want := range map[string]string{
		"ab {foo}":                   "is wrong at character 4: {foo} is not known; there are {first}, {guild}, ",
		"äö {}":                      "is wrong at character 4: {} ",
		"{user":                      "is wrong at character 1: {user} ",
		"x {user {level}":            "is wrong at character 3: {user } ",
		"{us\ner}":                   "is wrong at character 1: {us} ",
		"{":                          "is wrong at character 1: {} ",
		"a{#roles}b":                 "is wrong at character 2: {#roles} ",
		"a{#roles}b{#first}{/first}": "is wrong at character 2: {#roles} ",
		"{#roles}{/level}":           "is wrong at character 9: {/level} ",
		"{/roles}":                   "is wrong at character 1: {/roles} ",
		"{level.10}":                 "is wrong at character 1: {level.10} ",
		"{#level.x}{/level.x}":       "is wrong at character 1: {#level.x} ",
		"{#level.010}{/level.010}":   "is wrong at character 1: {#level.010} ",
		"{#level.10001}":             "is wrong at character 1: {#level.10001} ",
		"{ user}":                    "is wrong at character 1: { user} ",
		"{User}":                     "is wrong at character 1: {User} ",
		"{##roles}":                  "is wrong at character 1: {##roles} ",
	} {
		if _, _, err := render(text, nil); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("the text %q gives %v, want %q", text, err, want)
		}
	}
}

// With any names, a message fits Discord's limit, and a name makes no mention or markdown.
func TestNamesMakeNoMarkdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reached
		r.Name = rapid.String().Draw(t, "name")
		text := strings.Repeat("{name}", rapid.IntRange(1, 300).Draw(t, "times"))
		if n := utf8.RuneCountInString(ann(text).LevelUp(r)); n > MaxMessage {
			t.Errorf("the message has %d characters, want at most %d", n, MaxMessage)
		}
		shown := Escape(r.Name)
		for i, c := range shown {
			if strings.ContainsRune("*_~`|<>[]", c) && !odd(shown[:i]) {
				t.Fatalf("the name %q is shown as %q, with unescaped markdown", r.Name, shown)
			}
		}
		if strings.ContainsAny(shown, "\n\r\t") {
			t.Errorf("the name %q is shown with line ends", shown)
		}
	})
}

// odd reports whether a text ends in an odd number of backslashes.
func odd(text string) bool { return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 }

func TestEscapeEscapesMarkdown(t *testing.T) {
	for name, want := range map[string]string{
		"Anna-Maria": "Anna-Maria", "# big": `\# big`, "-# small": `\-# small`, "a\nb": "a b", `\`: `\\`, "||x||": `\|\|x\|\|`,
		"<@1>": `\<@1\>`, "https://x": `https\://x`, "`c`": "\\`c\\`",
	} {
		if got := Escape(name); got != want {
			t.Errorf("%q gives %q, want %q", name, got, want)
		}
	}
}
