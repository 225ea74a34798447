package strictjson

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// limits are what the tags of a field allow. The zero value allows everything.
type limits struct {
	bounded         bool
	lowest, highest float64
	bounds          string // as a client reads it: "1 to 100"

	sized             bool
	shortest, longest int

	counted      bool
	fewest, most int // items

	nullable bool // null reads as the zero value
}

func (l limits) holds(x float64) bool {
	return !l.bounded || (x >= l.lowest && x <= l.highest)
}

type field struct {
	name     string
	position []int // in the struct, through those embedded
	optional bool
	within   limits
}

type fields struct {
	list  []field
	index map[string]int
}

var known sync.Map // reflect.Type -> *fields

func fieldsOf(t reflect.Type) (*fields, error) {
	if f, ok := known.Load(t); ok {
		return f.(*fields), nil
	}
	f := &fields{index: make(map[string]int)}
	for _, sf := range reflect.VisibleFields(t) {
		if sf.Anonymous {
			continue // its fields are the struct's
		}
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" || !sf.IsExported() {
			return nil, fmt.Errorf("strictjson: field %s of %s is not exported or has no name in its json tag", sf.Name, t)
		}
		within, err := parseLimits(sf.Tag)
		if err != nil {
			return nil, fmt.Errorf("strictjson: field %s of %s: %w", sf.Name, t, err)
		}
		f.index[name] = len(f.list)
		_, isOptional := reflect.New(sf.Type).Interface().(optional)
		f.list = append(f.list, field{name: name, position: sf.Index, optional: isOptional || sf.Tag.Get("optional") == "true", within: within})
	}
	known.Store(t, f)
	return f, nil
}

func parseLimits(tag reflect.StructTag) (limits, error) {
	l := limits{nullable: tag.Get("null") == "true"}
	if text, ok := tag.Lookup("bounds"); ok {
		low, high, _ := strings.Cut(text, "..")
		var err1, err2 error
		l.lowest, err1 = strconv.ParseFloat(low, 64)
		l.highest, err2 = strconv.ParseFloat(high, 64)
		if err1 != nil || err2 != nil {
			return l, fmt.Errorf("tag bounds:%q is not of the form 1..100", text)
		}
		l.bounded, l.bounds = true, low+" to "+high
	}
	var err error
	if l.shortest, l.longest, l.sized, err = parseRange(tag, "bytes"); err != nil {
		return l, err
	}
	l.fewest, l.most, l.counted, err = parseRange(tag, "items")
	return l, err
}

func parseRange(tag reflect.StructTag, name string) (low, high int, given bool, err error) {
	text, given := tag.Lookup(name)
	if !given {
		return 0, 0, false, nil
	}
	from, to, _ := strings.Cut(text, "..")
	low, err1 := strconv.Atoi(from)
	high, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil {
		return 0, 0, false, fmt.Errorf("tag %s:%q is not of the form 1..256", name, text)
	}
	return low, high, true, nil
}
