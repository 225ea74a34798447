package announcement

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"levelboard/internal/domain/displayname"
)

// names are what a text may name, and the event that knows it; a name without one is known by both.
var names = map[string]Event{
	"user": LevelUp, "name": LevelUp, "level": LevelUp, "previousLevel": LevelUp, "xp": LevelUp, "rank": LevelUp, "roles": LevelUp,
	"period": PeriodOf, "first": PeriodOf, "second": PeriodOf, "third": PeriodOf,
	"guild": "",
}

var (
	// braces are a brace to be shown, or one that begins a name, with all of the name.
	braces = regexp.MustCompile(`\{\{|\{[^{}\n]*\}?`)
	// atLevel is the name of a section for one level.
	atLevel = regexp.MustCompile(`^level\.(0|[1-9][0-9]{0,3}|10000)$`)
)

// section is one that is open.
type section struct {
	name, sign string
	at         int // where its brace is, in bytes
	shown      bool
}

// render fills a text in, where a name without a value is empty, and returns the events whose own names it has. Its error is a rule that the text
// breaks, with the number of the character from 1.
func render(text string, values map[string]string) (filled string, of map[Event]bool, err error) {
	var b strings.Builder
	of = map[Event]bool{}
	inner, outer, last := section{shown: true}, []section(nil), 0
	show := func(s string) {
		if inner.shown {
			b.WriteString(s)
		}
	}
	wrong := func(at int, name, why string) (string, map[Event]bool, error) {
		return "", nil, fmt.Errorf("is wrong at character %d: {%s} %s", utf8.RuneCountInString(text[:at])+1, displayname.Cut(name, 40), why)
	}
	for _, place := range braces.FindAllStringIndex(text, -1) {
		at, end := place[0], place[1]
		show(text[last:at])
		last = end
		written, closed := strings.CutSuffix(text[at+1:end], "}")
		if written == "{" {
			show("{")
			continue
		}
		name := strings.TrimLeft(written, "#^/")
		sign := strings.TrimSuffix(written, name)
		event, known := names[name]
		if sign != "" && atLevel.MatchString(name) {
			event, known = LevelUp, true
		}
		switch {
		case !closed:
			return wrong(at, written, "is not closed; close it with }, and write {{ for a brace")
		case !known || len(sign) > 1:
			return wrong(at, written, "is not known; there are {"+strings.Join(slices.Sorted(maps.Keys(names)), "}, {")+"}, and {{ is a brace")
		case sign == "/" && name != inner.name:
			return wrong(at, written, "closes a section that is not open here")
		case sign == "/":
			inner, outer = outer[len(outer)-1], outer[:len(outer)-1]
		case sign == "":
			show(values[name])
		default:
			outer = append(outer, inner)
			inner = section{name, sign, at, inner.shown && (values[name] != "") == (sign == "#")}
		}
		if event != "" {
			of[event] = true
		}
	}
	if inner.name != "" {
		return wrong(inner.at, inner.sign+inner.name, "opens a section that is not closed; close it with {/"+inner.name+"}")
	}
	show(text[last:])
	return b.String(), of, nil
}
