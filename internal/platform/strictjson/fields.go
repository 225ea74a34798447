package strictjson

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// limits are what a field's tags allow. The zero value allows everything.
type limits struct {
	bounds   span // of a number
	bytes    span // of a text
	items    span // of a list
	nullable bool // null reads as the zero value
}

// span is a range, both ends included; the zero value has no ends.
type span struct {
	low, high float64
	text      string // as a client reads it: "1 to 100"; empty without ends
}

func (s span) holds(x float64) bool { return s.text == "" || x >= s.low && x <= s.high }

type field struct {
	name     string
	position []int // in the struct, through embedded structs
	optional bool
	within   limits
}

type fields struct {
	list  []field
	index map[string]int
}

var known sync.Map // reflect.Type -> *fields

// fieldsOf returns the properties that a body may have for the struct t. It panics for a type that the package does not decode.
func fieldsOf(t reflect.Type) *fields {
	if f, ok := known.Load(t); ok {
		return f.(*fields)
	}
	f := &fields{index: make(map[string]int)}
	for _, sf := range reflect.VisibleFields(t) {
		if sf.Anonymous {
			continue // its fields belong to the outer struct
		}
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" || !sf.IsExported() {
			panic(fmt.Sprintf("strictjson: field %s of %s is not exported or has no name in its json tag", sf.Name, t))
		}
		f.index[name] = len(f.list)
		_, isOptional := reflect.New(sf.Type).Interface().(optional)
		f.list = append(f.list, field{name: name, position: sf.Index, optional: isOptional || sf.Tag.Get("optional") == "true", within: parseLimits(sf.Tag)})
	}
	known.Store(t, f)
	return f
}

func parseLimits(tag reflect.StructTag) limits {
	return limits{bounds: parseSpan(tag, "bounds"), bytes: parseSpan(tag, "bytes"), items: parseSpan(tag, "items"), nullable: tag.Get("null") == "true"}
}

func parseSpan(tag reflect.StructTag, name string) span {
	text, ok := tag.Lookup(name)
	if !ok {
		return span{}
	}
	from, to, _ := strings.Cut(text, "..")
	low, err1 := strconv.ParseFloat(from, 64)
	high, err2 := strconv.ParseFloat(to, 64)
	if err1 != nil || err2 != nil {
		panic(fmt.Sprintf("strictjson: tag %s:%q is not of the form 1..100", name, text))
	}
	return span{low, high, from + " to " + to}
}
