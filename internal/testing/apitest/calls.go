package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Call is a valid request of one operation, made from the description's examples.
type Call struct {
	Method, Path, Query string
	Body                string // may be empty
}

// Address returns the path with the query.
func (c Call) Address() string {
	if c.Query == "" {
		return c.Path
	}
	return c.Path + "?" + c.Query
}

// Admin reports whether the call needs the admin token.
func (c Call) Admin() bool { return strings.HasPrefix(c.Path, "/admin/") }

// Calls returns a call of each operation on this guild and this user, for tests of all routes.
func Calls(tb testing.TB, guild, user string) (calls []Call) {
	tb.Helper()
	d, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	paths := d.doc.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		operations := paths[path].Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			if method == http.MethodHead {
				continue
			}
			op := operations[method]
			call := Call{Method: method, Path: path, Body: exampleBody(tb, op)}
			for _, p := range slices.Concat(paths[path].Parameters, op.Parameters) {
				call.give(p.Value, map[string]string{"guildId": guild, "entry": guild, "userId": user, "ids": user})
			}
			calls = append(calls, call)
		}
	}
	return calls
}

// give sets a path parameter, a required query parameter, or the ids that stand for one.
func (c *Call) give(p *openapi3.Parameter, values map[string]string) {
	value, ok := values[p.Name]
	if !ok {
		value = "1"
		if p.Example != nil {
			value = fmt.Sprint(p.Example)
		}
	}
	switch {
	case p.In == openapi3.ParameterInPath:
		c.Path = strings.Replace(c.Path, "{"+p.Name+"}", value, 1)
	case p.In == openapi3.ParameterInQuery && (p.Required || p.Name == "ids"):
		if !ok {
			value = url.QueryEscape(value)
		}
		c.Query = strings.TrimPrefix(c.Query+"&"+p.Name+"="+value, "&")
	}
}

func exampleBody(tb testing.TB, op *openapi3.Operation) string {
	tb.Helper()
	if op.RequestBody == nil {
		return ""
	}
	media := op.RequestBody.Value.Content["application/json"]
	example := media.Example
	for _, name := range slices.Sorted(maps.Keys(media.Examples)) {
		example = media.Examples[name].Value.Value
	}
	body, err := json.Marshal(example)
	if err != nil || example == nil {
		tb.Fatalf("the operation %s has no example of its body: %v", op.OperationID, err)
	}
	return string(body)
}
