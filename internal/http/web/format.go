package web

import (
	"fmt"
	"math"
	"reflect"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"levelboard/internal/domain/guild"
	"levelboard/internal/http/card"
)

// count writes a whole number of any signed type with commas between thousands. It panics for another type, which is a mistake in a template.
func count(n any) string { return humanize.Comma(reflect.ValueOf(n).Int()) }

// plural returns the noun for so many.
func plural(n any, one string) string {
	if reflect.ValueOf(n).Int() == 1 {
		return one
	}
	return one + "s"
}

// counted returns a number with its noun.
func counted(n any, one string) string { return count(n) + " " + plural(n, one) }

// initial returns the letter shown in place of a missing picture.
func initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return string(unicode.ToUpper(r))
		}
	}
	if r, _ := utf8.DecodeRuneInString(name); r != utf8.RuneError && unicode.IsGraphic(r) && !unicode.IsSpace(r) {
		return string(r)
	}
	return "?"
}

// picture is an avatar or an icon, or else the first letter of the name on a colour that depends on the id.
type picture struct {
	Address string // empty if there is only the letter
	Letter  string
	Tone    int // number of the colour: .picture--TONE
}

// newPicture makes the picture of kind "avatars" or "icons". It ignores an invalid hash, which could contain anything.
func newPicture(kind, id, hash, name string) picture {
	p := picture{Letter: initial(name)}
	p.Tone, _ = card.Hue(id)
	if hash != "" && guild.ValidHash(hash) {
		p.Address = imageHost + "/" + kind + "/" + id + "/" + hash + ".webp?size=64"
	}
	return p
}

// ring is a level, with the progress to the next one drawn around it.
type ring struct {
	Level   int
	Percent int // 0 to 100, rounded down, so that 100 means reached
}

func newRing(level int, progress float64) ring {
	return ring{Level: level, Percent: int(math.Floor(max(0, min(progress, 100))))}
}

// text returns an optional string, or "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// css returns a role's colour in CSS.
func css(colour *int) string { return fmt.Sprintf("#%06x", *colour) }

// instant is a time and its words.
type instant struct {
	At    time.Time
	Words string
}

func newInstant(at time.Time, words string) instant { return instant{at, words} }

// until returns how much time is left, rounded, in the largest unit that fits: "in 3 days".
func until(now, then time.Time) string {
	left := then.Sub(now)
	for _, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if left >= 2*unit {
			left = left.Round(unit)
			break
		}
	}
	return "in " + span(left)
}

// ago returns how much time has passed, in the same form.
func ago(now, then time.Time) string {
	if now.Sub(then) < time.Minute {
		return "just now"
	}
	return span(now.Sub(then)) + " ago"
}

func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return counted(int(d/(24*time.Hour)), "day")
	case d >= 2*time.Hour:
		return counted(int(d/time.Hour), "hour")
	case d >= time.Minute:
		return counted(int(d/time.Minute), "minute")
	}
	return "a minute"
}
