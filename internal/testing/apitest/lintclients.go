package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// clientLinter finds parts from which generators make a poor client: a required property with a default, a number without the format
// double, which becomes a float32 in Go, a variant of a union without its own name, and an unused component.
type clientLinter struct {
	components map[string]any
	used       map[string]bool // references, such as #/components/schemas/Guild
	problems   []string
}

// lintForClients takes the description as decoded by encoding/json.
func lintForClients(document map[string]any) []string {
	components, _ := document["components"].(map[string]any)
	l := clientLinter{components: components, used: map[string]bool{}}
	l.visit("#", document)
	for _, kind := range slices.Sorted(maps.Keys(components)) {
		named, _ := components[kind].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			reference := "#/components/" + kind + "/" + name
			if !l.used[reference] && kind != "securitySchemes" { // used by name, not by reference
				l.report(reference, "is not used by anything")
			}
		}
	}
	return l.problems
}

func (l *clientLinter) report(where, problem string) {
	l.problems = append(l.problems, where+" "+problem)
}

// visit checks a value of the document and everything in it.
func (l *clientLinter) visit(where string, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			l.visit(fmt.Sprintf("%s[%d]", where, i), item)
		}
	case map[string]any:
		l.object(where, value)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			switch name {
			case "example":
			case "examples":
				named, _ := value[name].(map[string]any)
				for _, one := range named {
					object, _ := one.(map[string]any)
					reference, _ := object["$ref"].(string)
					l.used[reference] = true
				}
			default:
				l.visit(where+"/"+name, value[name])
			}
		}
	}
}

func (l *clientLinter) object(where string, object map[string]any) {
	if reference, ok := object["$ref"].(string); ok {
		l.used[reference] = true
	}
	if isNumber(object["type"]) && object["format"] != "double" {
		l.report(where, "is a number without the format double")
	}
	for _, union := range []string{"oneOf", "anyOf"} {
		variants, _ := object[union].([]any)
		for i, variant := range variants {
			schema, _ := variant.(map[string]any)
			if schema["$ref"] == nil && schema["type"] != "null" {
				l.report(fmt.Sprintf("%s/%s[%d]", where, union, i), "is a variant without a name; make it a component")
			}
		}
	}
	properties, _ := object["properties"].(map[string]any)
	required, _ := object["required"].([]any)
	for _, name := range required {
		if property, _ := name.(string); l.hasDefault(properties[property]) {
			l.report(where+"/properties/"+property, "has a default and is required")
		}
	}
}

func isNumber(kind any) bool {
	list, _ := kind.([]any)
	return kind == "number" || slices.Contains(list, any("number"))
}

// hasDefault reports whether a property, or the component that it refers to, has a default.
func (l *clientLinter) hasDefault(property any) bool {
	schema, _ := property.(map[string]any)
	if schema == nil {
		return false
	}
	if _, ok := schema["default"]; ok {
		return true
	}
	reference, _ := schema["$ref"].(string)
	schemas, _ := l.components["schemas"].(map[string]any)
	name := strings.TrimPrefix(reference, "#/components/schemas/")
	return reference != "" && l.hasDefault(schemas[name])
}
