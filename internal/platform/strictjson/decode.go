package strictjson

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decoder walks the tokens and the Go type together, so that it knows what each value may be.
type decoder struct {
	place
	mode
	tokens *jsontext.Decoder
}

func (d *decoder) value(into reflect.Value, within limits) error {
	switch v := into.Addr().Interface().(type) {
	case *Value:
		return d.keep(v, within)
	case optional:
		return d.value(v.slot(), within)
	case Reader:
		var kept Value
		if err := d.keep(&kept, within); err != nil {
			return err
		}
		return v.ReadJSON(kept)
	case encoding.TextUnmarshaler:
		if !within.nullable || d.tokens.PeekKind() != 'n' {
			return d.text(v)
		}
	}
	if within.nullable && d.tokens.PeekKind() == 'n' {
		into.SetZero()
		return d.skip()
	}
	if into.Kind() == reflect.Pointer {
		if d.tokens.PeekKind() == 'n' {
			into.SetZero()
			return d.skip()
		}
		into.Set(reflect.New(into.Type().Elem()))
		return d.value(into.Elem(), within)
	}
	switch into.Kind() {
	case reflect.Struct:
		return d.object(into)
	case reflect.Slice:
		return d.array(into, within)
	}
	return d.scalar(into, within)
}

// keep reads a value that is decoded later.
func (d *decoder) keep(v *Value, within limits) error {
	raw, err := d.tokens.ReadValue()
	if err != nil {
		return d.syntax(err)
	}
	*v = Value{path: d.path(), raw: raw.Clone(), within: within, mode: d.mode}
	return nil
}

func (d *decoder) object(into reflect.Value) error {
	fields := fieldsOf(into.Type())
	if err := d.expect('{', "an object"); err != nil {
		return err
	}
	if err := d.skip(); err != nil {
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
		if !known && d.lenient {
			if err := d.tokens.SkipValue(); err != nil {
				return d.syntax(err)
			}
			continue
		}
		if !known {
			if err := d.note(d.unknown(name, fields)); err != nil {
				return err
			}
			if err := d.tokens.SkipValue(); err != nil {
				return d.syntax(err)
			}
			continue
		}
		seen[i] = true
		f := fields.list[i]
		if err := d.part(step{name: f.name}, into.FieldByIndex(f.position), f.within); err != nil {
			return err
		}
	}
	if d.partial && d.path() == "" {
		return nil
	}
	for i, f := range fields.list {
		if !seen[i] && !f.optional {
			d.enter(step{name: f.name})
			if err := d.note(d.wrong("is required")); err != nil {
				return err
			}
			d.leave()
		}
	}
	return nil
}

// part reads a property or an item. When faults are collected, it first cuts
// the value out, so that reading continues behind it whatever is wrong inside.
func (d *decoder) part(s step, into reflect.Value, within limits) error {
	d.enter(s)
	if d.faults == nil {
		if err := d.value(into, within); err != nil {
			return err
		}
		d.leave()
		return nil
	}
	raw, err := d.tokens.ReadValue()
	if err != nil {
		return d.syntax(err)
	}
	inside := decoder{place: place{root: d.path()}, mode: d.mode, tokens: jsontext.NewDecoder(bytes.NewBuffer(raw))}
	d.leave()
	return d.note(inside.value(into, within))
}

// scalar decodes with the library. It adds the limits, and words the errors.
func (d *decoder) scalar(into reflect.Value, within limits) error {
	kind, want := wanted(into, within)
	if kind == 0 {
		panic(fmt.Sprintf("strictjson: %q has the type %s, which cannot be decoded", d.path(), into.Type()))
	}
	if err := d.expect(kind, want); err != nil {
		return err
	}
	err := json.UnmarshalDecode(d.tokens, into.Addr().Interface())
	var semantic *json.SemanticError
	switch {
	case err == nil:
	case !errors.As(err, &semantic):
		return d.syntax(err)
	case kind == '0' && errors.Is(err, strconv.ErrRange) && within.bounds.text == "":
		return d.wrong("is too large a number")
	default:
		return d.wrong("must be %s", want)
	}
	return d.limited(into, within, want)
}

// text lets the type read a string. The type's error is the rule that the text breaks.
func (d *decoder) text(into encoding.TextUnmarshaler) error {
	if err := d.expect('"', "a string"); err != nil {
		return err
	}
	token, err := d.tokens.ReadToken()
	if err != nil {
		return d.syntax(err)
	}
	err = into.UnmarshalText([]byte(token.String()))
	if _, ok := into.(*time.Time); ok && err != nil {
		return d.wrong("must be a time in RFC 3339, such as 2026-01-02T15:04:05Z").Because(err)
	}
	if err != nil {
		return d.wrong("%s", err).Because(err)
	}
	return nil
}

// limited checks a value after it was read.
func (d *decoder) limited(into reflect.Value, within limits, want string) error {
	fits := true
	switch {
	case into.CanInt():
		fits = within.bounds.holds(float64(into.Int()))
	case into.CanFloat():
		into.SetFloat(into.Float() + 0) // -0 becomes 0
		fits = within.bounds.holds(into.Float())
	case into.Kind() == reflect.String:
		if strings.ContainsRune(into.String(), 0) {
			return d.wrong("must not contain the character NUL")
		}
		if !within.bytes.holds(float64(into.Len())) {
			return d.wrong("must be a string of %s bytes", within.bytes.text)
		}
	}
	if !fits {
		return d.wrong("must be %s", want)
	}
	return nil
}

// wanted returns the kind of JSON that a scalar is read from, and its name in words. kind is 0 for a type that cannot be decoded.
func wanted(into reflect.Value, within limits) (kind jsontext.Kind, want string) {
	switch {
	case into.Kind() == reflect.String:
		return '"', "a string"
	case into.Kind() == reflect.Bool:
		return 't', "true or false"
	case into.CanInt():
		want = "a whole number"
	case into.CanFloat():
		want = "a number"
	default:
		return 0, ""
	}
	if within.bounds.text != "" {
		want += " from " + within.bounds.text
	}
	return '0', want
}

// expect checks that the next value has this kind; want says it in words.
func (d *decoder) expect(kind jsontext.Kind, want string) error {
	switch got := d.tokens.PeekKind(); {
	case got == kind || got == 'f' && kind == 't':
		return nil
	case got == 'n':
		return d.wrong("must not be null; it must be %s", want)
	case got == jsontext.KindInvalid:
		return d.skip() // fails with the syntax error
	default:
		return d.mismatch(got, want)
	}
}

// skip skips a token.
func (d *decoder) skip() error {
	if _, err := d.tokens.ReadToken(); err != nil {
		return d.syntax(err)
	}
	return nil
}
