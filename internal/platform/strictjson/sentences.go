package strictjson

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
)

// plain matches names that an error shows without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

// maxQuoted is how many bytes of a client's own text an error repeats.
const maxQuoted = 64

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func quote(s string) string {
	if len(s) > maxQuoted {
		cut := maxQuoted
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "..."
	}
	return strconv.Quote(s)
}

func (d *decoder) mismatch(got jsontext.Kind, want string) error {
	names := map[jsontext.Kind]string{'t': "a boolean", 'f': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "an array"}
	return d.wrong("must be %s, not %s", want, names[got])
}

func (d *decoder) unknown(name string, f *fields) error {
	owner := d.path()
	if owner == "" {
		owner = "the body"
	}
	for _, known := range f.list {
		if strings.EqualFold(known.name, name) {
			return fault.New(fault.Invalid, "%s is not a property of %s; write it as %q", quote(name), owner, known.name)
		}
	}
	return fault.New(fault.Invalid, "%s is not a property of %s", quote(name), owner)
}

// syntax turns an error of the tokenizer into a fault.
func (d *decoder) syntax(err error) error {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		return fault.At(d.named(syntactic.JSONPointer), "is given twice")
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return fault.At(d.root, "is not complete JSON: it ends too early").Because(err)
	case syntactic != nil:
		return fault.At(d.root, "is not valid JSON; see byte %d", syntactic.ByteOffset).Because(err)
	}
	return fault.At(d.root, "is not valid JSON").Because(err)
}

// named writes a JSON pointer as clients write properties: user.avatar,
// roles[0].id. The names come from the client, so all but plain ones are quoted.
func (d *decoder) named(p jsontext.Pointer) string {
	path := d.root
	for name := range p.Tokens() {
		switch _, err := strconv.ParseUint(name, 10, 32); {
		case err == nil:
			path += "[" + name + "]"
		case plain.MatchString(name):
			path = join(path, name)
		default:
			path = join(path, quote(name))
		}
	}
	return path
}

// place is the decoder's position in the JSON value. It is kept as steps, since only an error needs it as text.
type place struct {
	root  string // the position of the value in the body; empty for the body itself
	steps []step
}

// step descends to a property or, if name is empty, to an item of a list.
type step struct {
	name string
	item int
}

// enter descends. After an error no caller ascends again, so the place stays that of the error.
func (p *place) enter(s step) { p.steps = append(p.steps, s) }

// leave ascends.
func (p *place) leave() { p.steps = p.steps[:len(p.steps)-1] }

// path returns the place as clients write properties: user.avatar, roles[0].id.
func (p *place) path() string {
	path := p.root
	for _, s := range p.steps {
		if s.name == "" {
			path += "[" + strconv.Itoa(s.item) + "]"
		} else {
			path = join(path, s.name)
		}
	}
	return path
}

// wrong returns a fault that says which rule the value at the place breaks.
func (p *place) wrong(rule string, args ...any) *fault.Error {
	return fault.At(p.path(), rule, args...)
}
