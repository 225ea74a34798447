package httpapi

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/id"
)

// maxString is the longest string of user data, in bytes.
const maxString = 256

// bodyScan is a place in a body that is read as nearly every client writes it. Each method reads on from there and reports whether it was
// sure. The place is a number, because shortening the text at each step costs the garbage collector a third of the time.
type bodyScan struct {
	text string
	at   int
}

// begin reads the beginning of an object up to its first value.
func (s *bodyScan) begin() (name string, ok bool) {
	if !s.is('{') {
		return "", false
	}
	return s.name()
}

// next reads from the end of a value to the next one in the same object. Where there is no comma, it reads nothing and says
// that there is no more. After one there must be more: what is no name is given as an empty one, which no property has.
func (s *bodyScan) next() (name string, more bool) {
	if !s.is(',') {
		return "", false
	}
	if name, ok := s.name(); ok {
		return name, true
	}
	return "", true
}

func (s *bodyScan) name() (string, bool) {
	name, ok := s.quoted()
	return name, ok && s.is(':')
}

func scanID[T id.User | id.Channel | id.Role](s *bodyScan) (T, bool) {
	text, ok := s.quoted()
	return T(text), ok && id.Valid(text)
}

// quoted reads to the next quotation mark. What is between is what the string holds, unless it has an escape or a character
// that must be escaped; so it is for strings that are compared to something without either.
func (s *bodyScan) quoted() (string, bool) {
	if !s.is('"') {
		return "", false
	}
	length := strings.IndexByte(s.text[s.at:], '"')
	if length < 0 {
		return "", false
	}
	begin := s.at
	s.at += length + 1
	return s.text[begin : begin+length], true
}

func (s *bodyScan) stringOrNull() (*string, bool) {
	if s.null() {
		return nil, true
	}
	value, ok := s.string()
	return &value, ok
}

// string reads a string of user data, as a copy: it is kept longer than the text.
func (s *bodyScan) string() (string, bool) {
	if !s.is('"') {
		return "", false
	}
	begin := s.at
	for i := begin; i < len(s.text) && i <= begin+maxString; i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return strings.Clone(s.text[begin:i]), true
		case c == '\\':
			return s.escaped(i)
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped reads on in a string whose first escape is at i.
func (s *bodyScan) escaped(i int) (string, bool) {
	for ; i < len(s.text) && s.text[i] != '"'; i++ {
		if s.text[i] == '\\' {
			i++
		}
	}
	if i >= len(s.text) {
		return "", false
	}
	value, err := jsontext.AppendUnquote(nil, s.text[s.at-1:i+1])
	s.at = i + 1
	return string(value), err == nil && len(value) <= maxString && !slices.Contains(value, 0)
}

func (s *bodyScan) null() bool {
	if !strings.HasPrefix(s.text[s.space():], "null") {
		return false
	}
	s.at += len("null")
	return true
}

// is reads c, if it comes next.
func (s *bodyScan) is(c byte) bool {
	if at := s.space(); at == len(s.text) || s.text[at] != c {
		return false
	}
	s.at++
	return true
}

// space reads white space, and returns where it ends.
func (s *bodyScan) space() int {
	for s.at < len(s.text) && s.text[s.at] <= ' ' {
		switch s.text[s.at] {
		case ' ', '\n', '\t', '\r':
			s.at++
		default:
			return s.at
		}
	}
	return s.at
}
