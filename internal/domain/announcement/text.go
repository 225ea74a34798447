package announcement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// names are what a text may name, and the event that knows it; a name without one is known by both.
var names = map[string]Event{
	"user": LevelUp, "name": LevelUp, "level": LevelUp, "previousLevel": LevelUp, "xp": LevelUp, "rank": LevelUp, "roles": LevelUp,
	"period": PeriodOf, "first": PeriodOf, "second": PeriodOf, "third": PeriodOf,
	"guild": "",
}

// levelSection begins the name of a section for one level, such as level.10.
const levelSection = "level."

// SyntaxError says what is wrong with a text. Its message is a sentence for the manager who wrote it.
type SyntaxError struct {
	Name string // as it was written
	At   int    // the number of the character at which its brace is, from 1
	Why  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("is wrong at character %d: {%s} %s", e.At, e.Name, e.Why)
}

// Text is a parsed text.
type Text struct {
	parts []part
	knows map[Event]bool // the events whose own names it has
}

// part is literal text, a name, or a section.
type part struct {
	literal string
	name    string
	section byte // '#' or '^' of a section, 0 of a name
	inner   []part
}

// Parse reads a text. Its error is a *SyntaxError.
func Parse(text string) (*Text, error) {
	p := parser{text: []rune(text), knows: map[Event]bool{}}
	parts, err := p.parts("", 0)
	if err != nil {
		return nil, err
	}
	return &Text{parts, p.knows}, nil
}

// Serves reports whether the text is for an event: one with names of another event only is not.
func (t *Text) Serves(e Event) bool { return len(t.knows) != 1 || t.knows[e] }

type parser struct {
	text  []rune
	at    int
	knows map[Event]bool
}

// parts reads to the end of a section that was opened at a place, or to the end of the text when section is empty.
func (p *parser) parts(section string, opened int) (parts []part, err error) {
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, part{literal: literal.String()})
			literal.Reset()
		}
	}
	for p.at < len(p.text) {
		if p.text[p.at] != '{' {
			literal.WriteRune(p.text[p.at])
			p.at++
			continue
		}
		if p.at+1 < len(p.text) && p.text[p.at+1] == '{' {
			literal.WriteByte('{')
			p.at += 2
			continue
		}
		at := p.at
		sign, name, err := p.name()
		if err != nil {
			return nil, err
		}
		if sign == '/' {
			if section == "" || name != section {
				return nil, &SyntaxError{"/" + name, at + 1, "closes a section that is not open here"}
			}
			flush()
			return parts, nil
		}
		flush()
		one := part{name: name, section: sign}
		if sign != 0 {
			if one.inner, err = p.parts(name, at); err != nil {
				return nil, err
			}
		}
		parts = append(parts, one)
	}
	if section != "" {
		return nil, &SyntaxError{"#" + section, opened + 1, "opens a section that is not closed; close it with {/" + section + "}"}
	}
	flush()
	return parts, nil
}

// name reads what is in braces: a sign, or 0, and a name.
func (p *parser) name() (sign byte, name string, err error) {
	at := p.at
	rest := p.text[at+1:]
	end := slices.IndexFunc(rest, func(r rune) bool { return r == '}' || r == '{' || r == '\n' })
	if end < 0 || rest[end] != '}' {
		if end < 0 {
			end = len(rest)
		}
		return 0, "", &SyntaxError{string(rest[:min(end, 40)]), at + 1, "is not closed; close it with }, and write {{ for a brace"}
	}
	written := string(rest[:end])
	p.at = at + end + 2
	name = written
	if name != "" && strings.Contains("#^/", name[:1]) {
		sign, name = name[0], name[1:]
	}
	event, known := names[name]
	if number, ok := strings.CutPrefix(name, levelSection); ok && sign != 0 {
		n, bad := strconv.Atoi(number)
		known, event = bad == nil && n >= 0 && n <= 10000 && strconv.Itoa(n) == number, LevelUp
	}
	if !known {
		return 0, "", &SyntaxError{string(rest[:min(end, 40)]), at + 1, "is not known; the names are in docs/announcements.md, and {{ is a brace"}
	}
	if event != "" {
		p.knows[event] = true
	}
	return sign, name, nil
}

// render fills the text in. A name without a value is empty.
func (t *Text) render(values map[string]string) string {
	var b strings.Builder
	render(&b, t.parts, values)
	return b.String()
}

func render(b *strings.Builder, parts []part, values map[string]string) {
	for _, p := range parts {
		value := values[p.name]
		if number, ok := strings.CutPrefix(p.name, levelSection); ok && values["level"] == number {
			value = number
		}
		switch {
		case p.section == '#' && value != "", p.section == '^' && value == "":
			render(b, p.inner, values)
		case p.section == 0 && p.name != "":
			b.WriteString(value)
		case p.section == 0:
			b.WriteString(p.literal)
		}
	}
}
