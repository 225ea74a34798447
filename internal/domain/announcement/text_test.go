package announcement

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"levelboard/internal/domain/displayname"
)

// ann is an announcement with a text.
func ann(text string) *Announcement {
	return &Announcement{Kind: Discord, Events: []Event{LevelUp, PeriodOf}, Text: &text, From: 1, Every: 1, Mention: true}
}

var reached = Reached{UserID: "100000000000000002", Name: "Ada*", Level: 10, Previous: 9, XP: 4150, Rank: 3, Roles: []string{"Regular", "V_I_P"}, Guild: "Gophers"}

func TestTextsOfLevelUps(t *testing.T) {
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
		t.Errorf("without mention: %q", got)
	}
	plain := reached
	plain.Roles = nil
	own := &Announcement{Mention: true}
	if got := own.LevelUp(plain); got != "<@100000000000000002> has reached level 10!" {
		t.Errorf("own text: %q", got)
	}
}

func TestTextsOfPeriods(t *testing.T) {
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

func TestWrongTexts(t *testing.T) {
	for text, want := range map[string]SyntaxError{
		"ab {foo}":                   {Name: "foo", At: 4},
		"äö {}":                      {Name: "", At: 4},
		"{user":                      {Name: "user", At: 1},
		"x {user {level}":            {Name: "user ", At: 3},
		"{us\ner}":                   {Name: "us", At: 1},
		"{":                          {Name: "", At: 1},
		"a{#roles}b":                 {Name: "#roles", At: 2},
		"a{#roles}b{#first}{/first}": {Name: "#roles", At: 2},
		"{#roles}{/level}":           {Name: "/level", At: 9},
		"{/roles}":                   {Name: "/roles", At: 1},
		"{level.10}":                 {Name: "level.10", At: 1},
		"{#level.x}{/level.x}":       {Name: "#level.x", At: 1},
		"{#level.010}{/level.010}":   {Name: "#level.010", At: 1},
		"{#level.10001}":             {Name: "#level.10001", At: 1},
		"{ user}":                    {Name: " user", At: 1},
		"{User}":                     {Name: "User", At: 1},
		"{##roles}":                  {Name: "##roles", At: 1},
	} {
		_, err := Parse(text)
		got, ok := errors.AsType[*SyntaxError](err)
		if !ok || got.Name != want.Name || got.At != want.At {
			t.Errorf("%q: %v, want %q at %d", text, err, want.Name, want.At)
		}
	}
}

// Whatever people are called, a message has no more than what Discord takes, and no mention or markdown comes out of a name.
func TestAnyNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reached
		r.Name = rapid.String().Draw(t, "name")
		text := strings.Repeat("{name}", rapid.IntRange(1, 300).Draw(t, "times"))
		if n := utf8.RuneCountInString(ann(text).LevelUp(r)); n > MaxMessage {
			t.Errorf("%d characters", n)
		}
		shown := Escape(r.Name)
		for i, c := range shown {
			if strings.ContainsRune("*_~`|<>[]", c) && !odd(shown[:i]) {
				t.Fatalf("%q shows %q", r.Name, shown)
			}
		}
		if strings.ContainsAny(shown, "\n\r\t") {
			t.Errorf("%q has lines", shown)
		}
	})
}

// odd reports whether a text ends in an odd number of backslashes.
func odd(text string) bool { return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 }

func TestEscape(t *testing.T) {
	for name, want := range map[string]string{
		"Anna-Maria": "Anna-Maria", "# big": `\# big`, "-# small": `\-# small`, "a\nb": "a b", `\`: `\\`, "||x||": `\|\|x\|\|`,
		"<@1>": `\<@1\>`, "https://x": `https\://x`, "`c`": "\\`c\\`",
	} {
		if got := Escape(name); got != want {
			t.Errorf("%q gives %q, want %q", name, got, want)
		}
	}
}

func TestBursts(t *testing.T) {
	short := slicesOf("x", 12)
	if joined, n := Burst(short); n != MaxBurst || joined != strings.TrimSuffix(strings.Repeat("x\n", MaxBurst), "\n") {
		t.Errorf("%d: %q", n, joined)
	}
	long := slicesOf(strings.Repeat("é", 1000), 3)
	if joined, n := Burst(long); n != 1 || utf8.RuneCountInString(joined) != 1000 {
		t.Errorf("%d of 1000 characters: the line break between two does not fit", n)
	}
	if _, n := Burst([]string{strings.Repeat("x", 999), strings.Repeat("x", 1000), "x"}); n != 2 {
		t.Errorf("%d fit, want 2", n)
	}
	if got := displayname.Cut(strings.Repeat("é", 2001), MaxMessage); utf8.RuneCountInString(got) != MaxMessage || !strings.HasSuffix(got, "é…") {
		t.Errorf("cut to %d", utf8.RuneCountInString(got))
	}
}

func slicesOf(text string, n int) (list []string) {
	for range n {
		list = append(list, text)
	}
	return list
}
