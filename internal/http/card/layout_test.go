package card

import (
	"math"
	"strings"
	"testing"
)

func TestNoTextLeavesTheCardOrOverlaps(t *testing.T) {
	members := map[string]Data{
		"ada": ada, "crowded": crowded, "nobody": {},
		"wide": with(func(d *Data) { d.GlobalName, d.Guild = strings.Repeat("🦊", 60), strings.Repeat("国", 80) }),
	}
	ours := drawn(nil)
	for name, d := range members {
		wantPlaced(t, name+" as SVG", compose(d, viewers()).lines)
		wantPlaced(t, name+" as PNG", compose(d, ours).lines)
	}
}

func wantPlaced(t *testing.T, name string, lines []line) {
	t.Helper()
	const apart = 12
	for i, l := range lines {
		if l.x < 20 || l.x+l.length > right+.01 {
			t.Errorf("%s: %q lies from %v to %v, beyond the card's margins", name, l.text, l.x, l.x+l.length)
		}
		for _, other := range lines[:i] {
			if other.y == l.y && other.x < l.x+l.length+apart && l.x < other.x+other.length+apart {
				t.Errorf("%s: %q and %q are too close", name, other.text, l.text)
			}
		}
	}
}

func TestBarShowsProgress(t *testing.T) {
	for progress, want := range map[float64]float64{-5: 0, 0: 0, .001: barHigh, 50: (right - left) / 2, 100: right - left, 250: right - left} {
		got := 0.0
		for _, b := range compose(with(func(d *Data) { d.Progress = progress }), viewers()).boxes {
			if b.paint == hue && b.y == barTop {
				got = b.width
			}
		}
		if math.Abs(got-want) > .01 {
			t.Errorf("at %v percent the bar has the length %v, want %v", progress, got, want)
		}
	}
}

func TestACardSaysRankLevelAndXP(t *testing.T) {
	for name, c := range map[string]struct {
		d    Data
		want []string
	}{
		"in between": {ada, []string{"Ada Lovelace", "Gophers", "#1", "10", "4,750 XP", "182 messages", "350 XP to level 11"}},
		"level 0":    {Data{UserID: "42", Rank: 9, NextLevelXP: 100, Messages: 1}, []string{"42", "#9", "0", "0 XP", "1 message", "100 XP to level 1"}},
		"long numbers": {with(func(d *Data) { d.XP, d.Messages, d.NextLevelXP, d.Level = 2146483647, 0, 2147383647, 6553 }),
			[]string{"2,146,483,647 XP", "0 messages", "900,000 XP to level 6,554"}},
		"the top": {crowded, []string{"10,000", "2,147,483,647 XP", "9,223,372,036,854,775,807 messages", "Highest level"}},
	} {
		said := map[string]bool{}
		for _, l := range compose(c.d, viewers()).lines {
			said[l.text] = true
		}
		for _, text := range c.want {
			if !said[text] {
				t.Errorf("%s: the card lacks %q, it has %v", name, text, said)
			}
		}
	}
}

// Fifteen letters of every script, also from right to left, fit beside the numbers of most members.
func TestFifteenLettersOfEveryScriptFit(t *testing.T) {
	for _, name := range []string{"אברהם בן־יוסףים", "שמואל אבינועםים", "عبد الرحمن محمد", "فاطمة الزهراءين"} {
		d := with(func(d *Data) { d.GlobalName, d.Rank, d.Level = name, 1234, 42 })
		if got := compose(d, viewers()).lines[5].text; got != name {
			t.Errorf("%q is cut to %q, want it whole", name, got)
		}
	}
}

func TestColoursHaveEnoughContrast(t *testing.T) {
	for theme, palette := range palettes {
		for _, p := range []paint{ink, soft, gold, silver, bronze} {
			if got := contrast(palette[p], palette[surface]); got < 4.5 {
				t.Errorf("theme %d: the contrast of %s to the surface is %.2f, want 4.5", theme, classes[p], got)
			}
		}
		for _, h := range hues {
			for _, c := range []colour{h.from, h.to} {
				if got := contrast(palette[white], c); got < 3 {
					t.Errorf("the contrast of an initial to %s is %.2f, want 3", c.css(), got)
				}
				if got := contrast(palette[track], c); got < 1.8 {
					t.Errorf("theme %d: the contrast of a bar of %s to its track is %.2f, want 1.8", theme, c.css(), got)
				}
			}
		}
	}
}

// contrast is the contrast ratio of WCAG 2.
func contrast(a, b colour) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

func luminance(c colour) float64 {
	linear := func(v uint8) float64 {
		part := float64(v) / 255
		if part <= .04045 {
			return part / 12.92
		}
		return math.Pow((part+.055)/1.055, 2.4)
	}
	rgb := c.rgba()
	return .2126*linear(rgb.R) + .7152*linear(rgb.G) + .0722*linear(rgb.B)
}
