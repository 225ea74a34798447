// Package strictjson decodes all JSON that clients send. It rejects whatever another reader could
// understand differently: unknown, duplicate and case-variant names, text that is not UTF-8, anything
// after the value, null where none is allowed, numbers that do not fit, NUL in strings. It writes no JSON.
//
// The Go type says what is allowed:
//
//	T             required, never null
//	*T            required, may be null
//	Optional[T]   may be absent, never null
//	Optional[*T]  may be absent, may be null
//
// T is a bool, a string, a number, a struct, a slice, a Reader, a Value (any value, null too, decoded later),
// or an encoding.TextUnmarshaler, whose error is the rule that a text breaks ("must be 17 to 19 digits").
//
// Tags of a field say the rest. optional:"true": it may be absent, and then keeps its value. null:"true": null sets it to its zero value.
// bounds:"1..2147483647": the range of a number. bytes:"1..256": the length of a text. items:"0..250": the number of items; every list must
// have it. Bounds include both ends. An empty list is nil. If an item has a method SetDefaults(), it is called before the item is read.
package strictjson

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
)

// Decode reads data, one JSON value, into what into points at. A client's mistake is a *fault.Error with code
// fault.Invalid, whose sentence names the property as the client writes it: `user.avatar must not be null`. Decode
// panics when the Go type is not one that the package decodes. After an error, into holds some of the values.
func Decode(data []byte, into any) error {
	return decode("", data, reflect.ValueOf(into).Elem(), limits{}, mode{})
}

// DecodeKnown is Decode, but skips properties that the Go type lacks: a newer version of this service may have written them.
func DecodeKnown(data []byte, into any) error {
	return decode("", data, reflect.ValueOf(into).Elem(), limits{}, mode{lenient: true})
}

// DecodeOver reads data over what into points at: absent properties of the outermost
// object stay as they are. It continues after a mistake, and returns all of them.
func DecodeOver(data []byte, into any) (wrong fault.List) {
	if err := decode("", data, reflect.ValueOf(into).Elem(), limits{}, mode{partial: true, faults: &wrong}); err != nil && err != errNoted {
		wrong.Add(fault.From(err))
	}
	return wrong
}

// mode is how a body is read.
type mode struct {
	lenient bool        // unknown properties are skipped
	partial bool        // no property of the outermost object is required
	faults  *fault.List // where mistakes are collected; nil stops at the first one
}

// errNoted is returned for a value whose mistakes were collected.
var errNoted = errors.New("strictjson: a fault was noted")

// note collects a fault so that reading continues, if faults are collected. It returns any other error.
func (m mode) note(err error) error {
	var f *fault.Error
	switch {
	case err == nil || m.faults == nil:
		return err
	case err == errNoted:
		return nil
	case errors.As(err, &f):
		m.faults.Add(f)
		return nil
	}
	return err
}

func decode(path string, data []byte, into reflect.Value, within limits, how mode) error {
	if how.faults == nil {
		return read(path, data, into, within, how)
	}
	before := how.faults.Len()
	if err := how.note(read(path, data, into, within, how)); err != nil {
		return err
	}
	if how.faults.Len() > before {
		return errNoted
	}
	return nil
}

func read(path string, data []byte, into reflect.Value, within limits, how mode) error {
	if err := checkText(path, data); err != nil {
		return err
	}
	d := decoder{place: place{root: path}, mode: how, tokens: jsontext.NewDecoder(bytes.NewBuffer(data))}
	if err := d.value(into, within); err != nil {
		return err
	}
	if _, err := d.tokens.ReadToken(); !errors.Is(err, io.EOF) {
		return fault.At(path, "must be one JSON value with nothing after it")
	}
	return nil
}

// checkText rejects what the tokenizer does not report: an empty body and bytes that are not UTF-8.
func checkText(path string, data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return fault.At(path, "is empty; send a JSON value")
	}
	if !utf8.Valid(data) {
		return fault.At(path, "must be valid UTF-8")
	}
	return nil
}

// Value is a JSON value that is decoded later, when its type is known. It remembers its path in the body and the limits of its field.
type Value struct {
	path   string
	raw    jsontext.Value
	within limits
	mode   mode
}

// Reader is a type that decodes itself, by v.Decode into other types. Its errors are those of Decode.
type Reader interface{ ReadJSON(v Value) error }

// Kind returns the kind by the first byte of the value: '"', '[' and so on.
func (v Value) Kind() jsontext.Kind { return v.raw.Kind() }

// Path returns the value's path in the body.
func (v Value) Path() string { return v.path }

// Decode reads the value into what into points at, as the function Decode does. It ignores an absent value.
func (v Value) Decode(into any) error {
	if v.raw == nil {
		return nil
	}
	return decode(v.path, v.raw, reflect.ValueOf(into).Elem(), v.within, v.mode)
}

// Optional is a property that a body may leave out. Its zero value is absent. Use Optional[*T] where null has a meaning of its own.
type Optional[T any] struct {
	value   T
	present bool
}

// Get returns the value and whether it was present. For an absent one the value is T's zero.
func (o Optional[T]) Get() (T, bool) { return o.value, o.present }

// Or returns the value, or fallback when it was absent.
func (o Optional[T]) Or(fallback T) T {
	if !o.present {
		return fallback
	}
	return o.value
}

// slot marks the property present and returns its value's place.
func (o *Optional[T]) slot() reflect.Value {
	o.present = true
	return reflect.ValueOf(&o.value).Elem()
}

type optional interface{ slot() reflect.Value }
