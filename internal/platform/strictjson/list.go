package strictjson

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

// array stops at the first item too many. A body has room for many more than are allowed, and a decoded item takes more memory than a sent one.
func (d *decoder) array(into reflect.Value, within limits) error {
	if within.items.text == "" {
		panic(fmt.Sprintf("strictjson: the list %q has no bound; give its field a tag such as items:%q", d.path(), "0..100"))
	}
	if err := d.expect('[', "an array"); err != nil {
		return err
	}
	if err := d.skip(); err != nil {
		return err
	}
	into.SetZero()
	n := 0
	for ; d.tokens.PeekKind() != ']'; n++ {
		if n == int(within.items.high) && d.tokens.PeekKind() != jsontext.KindInvalid {
			return d.miscounted(within)
		}
		into.Grow(1)
		into.SetLen(n + 1)
		if item, ok := into.Index(n).Addr().Interface().(interface{ SetDefaults() }); ok {
			item.SetDefaults()
		}
		if err := d.part(step{item: n}, into.Index(n), limits{}); err != nil {
			return err
		}
	}
	if n < int(within.items.low) {
		return d.miscounted(within)
	}
	return d.skip()
}

func (d *decoder) miscounted(within limits) error {
	if within.items.low == 0 {
		return d.wrong("must have at most %v items", within.items.high)
	}
	return d.wrong("must have %s items", within.items.text)
}
