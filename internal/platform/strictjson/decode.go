package strictjson

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	rawType  = reflect.TypeFor[jsontext.Value]()
	timeType = reflect.TypeFor[time.Time]()
)

// decoder walks the tokens and the Go type together, so that it knows at each value what may stand there.
type decoder struct {
	place
	tokens *jsontext.Decoder
}

func (d *decoder) value(into reflect.Value, within limits) error {
	if into.Type() == rawType {
		raw, err := d.tokens.ReadValue()
		if err != nil {
			return d.syntax(err)
		}
		into.SetBytes(raw.Clone())
		return nil
	}
	if o, ok := into.Addr().Interface().(optional); ok {
		return d.value(o.slot(), within)
	}
	if into.Kind() == reflect.Pointer {
		if d.tokens.PeekKind() == 'n' {
			into.SetZero()
			return d.skip()
		}
		into.Set(reflect.New(into.Type().Elem()))
		return d.value(into.Elem(), within)
	}
	switch {
	case into.Type() == timeType:
		return d.text(into, "a time in RFC 3339, such as 2026-01-02T15:04:05Z")
	case isText(into):
		return d.text(into, "")
	}
	switch into.Kind() {
	case reflect.Struct:
		return d.object(into)
	case reflect.Slice:
		return d.array(into, within)
	case reflect.String:
		return d.str(into, within)
	case reflect.Bool:
		return d.boolean(into)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return d.integer(into, within)
	case reflect.Float64:
		return d.float(into, within)
	}
	return fmt.Errorf("strictjson: %q has the type %s, which cannot be decoded", d.path(), into.Type())
}

func (d *decoder) object(into reflect.Value) error {
	fields, err := fieldsOf(into.Type())
	if err != nil {
		return err
	}
	if _, err := d.expect('{', "an object"); err != nil {
		return err
	}
	seen := make([]bool, len(fields.list))
	for {
		token, err := d.tokens.ReadToken()
		if err != nil {
			return d.syntax(err)
		}
		if token.Kind() == '}' {
			break
		}
		name := token.String()
		i, known := fields.index[name]
		if !known {
			return d.unknown(name, fields)
		}
		seen[i] = true
		f := fields.list[i]
		d.enter(step{name: f.name})
		if err := d.value(into.Field(f.position), f.within); err != nil {
			return err
		}
		d.leave()
	}
	for i, f := range fields.list {
		if !seen[i] && !f.optional {
			d.enter(step{name: f.name})
			return d.wrong("is required")
		}
	}
	return nil
}

func (d *decoder) str(into reflect.Value, within limits) error {
	token, err := d.expect('"', "a string")
	if err != nil {
		return err
	}
	s := token.String()
	if strings.ContainsRune(s, 0) {
		return d.wrong("must not contain the character NUL")
	}
	if within.sized && (len(s) < within.shortest || len(s) > within.longest) {
		return d.wrong("must be a string of %d to %d bytes", within.shortest, within.longest)
	}
	into.SetString(s)
	return nil
}

func (d *decoder) text(into reflect.Value, want string) error {
	token, err := d.expect('"', "a string")
	if err != nil {
		return err
	}
	if err := into.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(token.String())); err != nil {
		if want == "" {
			want = "well-formed"
		}
		return d.wrong("must be %s", want).Because(err)
	}
	return nil
}

func (d *decoder) boolean(into reflect.Value) error {
	token, err := d.read("true or false")
	if err != nil {
		return err
	}
	if token.Kind() != 't' && token.Kind() != 'f' {
		return d.mismatch(token.Kind(), "true or false")
	}
	into.SetBool(token.Bool())
	return nil
}

func (d *decoder) integer(into reflect.Value, within limits) error {
	want := "a whole number"
	if within.bounded {
		want += " from " + within.bounds
	}
	token, err := d.expect('0', want)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(token.String(), 10, into.Type().Bits())
	if err != nil || !within.holds(float64(n)) {
		if errors.Is(err, strconv.ErrRange) && !within.bounded {
			return d.wrong("is too large a number")
		}
		return d.wrong("must be %s", want)
	}
	into.SetInt(n)
	return nil
}

func (d *decoder) float(into reflect.Value, within limits) error {
	want := "a number"
	if within.bounded {
		want += " from " + within.bounds
	}
	token, err := d.expect('0', want)
	if err != nil {
		return err
	}
	x, err := strconv.ParseFloat(token.String(), 64)
	if err != nil && !within.bounded {
		return d.wrong("is too large a number")
	}
	if err != nil || !within.holds(x) {
		return d.wrong("must be %s", want)
	}
	into.SetFloat(x + 0) // -0 becomes 0
	return nil
}

// expect reads a token of this kind; want says what should be there, for the client.
func (d *decoder) expect(kind jsontext.Kind, want string) (jsontext.Token, error) {
	token, err := d.read(want)
	if err == nil && token.Kind() != kind {
		err = d.mismatch(token.Kind(), want)
	}
	return token, err
}

func (d *decoder) read(want string) (jsontext.Token, error) {
	token, err := d.tokens.ReadToken()
	if err != nil {
		return token, d.syntax(err)
	}
	if token.Kind() == 'n' {
		return token, d.wrong("must not be null; it must be %s", want)
	}
	return token, nil
}

func (d *decoder) skip() error {
	if _, err := d.tokens.ReadToken(); err != nil {
		return d.syntax(err)
	}
	return nil
}

func isText(v reflect.Value) bool {
	_, ok := v.Addr().Interface().(encoding.TextUnmarshaler)
	return ok
}
