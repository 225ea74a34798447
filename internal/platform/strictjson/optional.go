package strictjson

import (
	"reflect"

	"github.com/go-json-experiment/json"
)

// Optional is a property that a body may leave out. Its zero value is absent. Use Optional[*T] where null has a meaning
// of its own. It marshals as its value; tag the field omitzero to leave it out when it is absent.
type Optional[T any] struct {
	value   T
	present bool
}

// Some returns a present Optional.
func Some[T any](v T) Optional[T] {
	return Optional[T]{value: v, present: true}
}

// Get returns the value and whether it was present; absent, the value is T's zero.
func (o Optional[T]) Get() (T, bool) { return o.value, o.present }

// Or returns the value, or fallback when it was absent.
func (o Optional[T]) Or(fallback T) T {
	if !o.present {
		return fallback
	}
	return o.value
}

// IsZero reports that it is absent, for omitzero.
func (o Optional[T]) IsZero() bool { return !o.present }

// MarshalJSON writes the value, which is T's zero when it is absent.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.value) }

// slot marks it present and returns the place of its value.
func (o *Optional[T]) slot() reflect.Value {
	o.present = true
	return reflect.ValueOf(&o.value).Elem()
}

type optional interface{ slot() reflect.Value }
