package importer

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// jsonFile walks through a JSON file. It holds one value of a list at a time. It
// accepts what other programs write, except for members, which it decodes strictly.
type jsonFile struct {
	*fileReader
	in  *input
	dec *jsontext.Decoder
}

func (f *fileReader) json(from io.Reader) *jsonFile {
	in := newInput(from)
	// Do not remember names: an object with a name for each member must be read in constant memory.
	return &jsonFile{f, in, jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// whole reads one value with read, and checks that nothing follows.
func (j *jsonFile) whole(read func() error) error {
	if err := read(); err != nil {
		return err
	}
	if _, err := j.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return j.wrong("has something after its value; name each file separately")
	}
	return nil
}

// object reads an object, and calls the function of each known property. A
// known property that is there twice is an error, since its meaning is unknown.
func (j *jsonFile) object(what string, fields map[string]func() error) error {
	seen := make(map[string]bool)
	return j.names(what, func(name string) error {
		read, known := fields[name]
		if !known {
			return j.skipValue()
		}
		if seen[name] {
			return j.wrong("names " + name + " twice")
		}
		seen[name] = true
		return read()
	})
}

// names reads an object and calls read for each name; read must read the value.
func (j *jsonFile) names(what string, read func(name string) error) error {
	if j.dec.PeekKind() != '{' {
		return j.mismatch(what + " must be an object")
	}
	if _, err := j.token(); err != nil {
		return err
	}
	for {
		token, err := j.token()
		if err != nil {
			return err
		}
		if token.Kind() == '}' {
			return nil
		}
		if err := read(token.String()); err != nil {
			return err
		}
	}
}

// list reads an array and calls read for each value; read must read it.
func (j *jsonFile) list(what string, read func() error) error {
	if j.dec.PeekKind() != '[' {
		return j.mismatch(what + " must be a list")
	}
	if _, err := j.token(); err != nil {
		return err
	}
	for {
		switch j.dec.PeekKind() {
		case ']':
			_, err := j.token()
			return err
		case jsontext.KindInvalid:
			_, err := j.token()
			return err
		}
		if err := read(); err != nil {
			return err
		}
	}
}

func (j *jsonFile) token() (jsontext.Token, error) {
	token, err := j.dec.ReadToken()
	if err != nil {
		return token, j.broken(err)
	}
	j.in.done(j.dec.InputOffset())
	return token, nil
}

// value reads a whole value, and returns the line on which it begins. The value is valid until the next call.
func (j *jsonFile) value() (jsontext.Value, int, error) {
	value, err := j.dec.ReadValue()
	if err != nil {
		return nil, 0, j.broken(err)
	}
	line := j.in.lineAt(j.dec.InputOffset() - int64(len(value)))
	j.in.done(j.dec.InputOffset())
	return value, line, nil
}

// skipValue reads a value of any size and drops it.
func (j *jsonFile) skipValue() error {
	for depth := j.dec.StackDepth(); ; {
		if _, err := j.token(); err != nil {
			return err
		}
		if j.dec.StackDepth() <= depth {
			return nil
		}
	}
}

// decode reads a small part of a file into the variable that into points at. It skips a part of another type; fits is then false.
func (j *jsonFile) decode(into any) (fits bool, err error) {
	value, _, err := j.value()
	if err != nil {
		return false, err
	}
	return json.Unmarshal(value, into) == nil, nil
}

// mismatch reports a value of the wrong type, or the syntax error before it.
func (j *jsonFile) mismatch(message string) error {
	if j.dec.PeekKind() == jsontext.KindInvalid {
		_, err := j.token()
		return err
	}
	return j.wrong(message)
}

func (j *jsonFile) wrong(message string) error {
	return j.fail(j.in.lineAt(j.in.parsed), message, nil)
}

// broken reports a file that cannot be read any further.
func (j *jsonFile) broken(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, errLong):
		return j.wrong(errLong.Error())
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return j.fail(j.in.lineAt(j.in.given), "the file ends in the middle; get it again", nil)
	case errors.As(err, &syntax):
		return j.fail(j.in.lineAt(syntax.ByteOffset), "the file is not JSON", syntax.Err)
	}
	return j.fail(0, "the file cannot be read", err)
}
