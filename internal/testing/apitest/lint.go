package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/docs"
)

// lintDescription fails tb for every broken rule: the description is valid with its examples, no name is in it twice, each operation has a
// unique id, a summary, a description and a known tag, failures have the {message} body, those that can meet any request are
// documented, objects in answers are closed and complete, and client generators understand it.
func lintDescription(tb testing.TB) {
	tb.Helper()
	if !jsontext.Value(docs.OpenAPI).IsValid() {
		tb.Errorf("docs/openapi.json is not JSON with unique names: a path, a method or a property is in it twice")
	}
	var document map[string]any
	if err := json.Unmarshal(docs.OpenAPI, &document); err != nil {
		tb.Fatal(err)
	}
	for _, problem := range append(lint(loadDocument(tb)), lintForClients(document)...) {
		tb.Errorf("docs/openapi.json: %s", problem)
	}
}

func lint(doc *openapi3.T) []string {
	l := linter{doc: doc, ids: map[string]string{}, shapes: map[string]string{}}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		l.path(path)
		item := doc.Paths.Value(path)
		operations := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			l.operation(path, method, operations[method])
		}
	}
	return l.problems
}

type linter struct {
	doc      *openapi3.T
	ids      map[string]string // operationId to its place
	shapes   map[string]string // path without its parameters' names to the path
	problems []string
}

func (l *linter) report(format string, args ...any) {
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

// path finds two paths that differ only in the names of their parameters.
func (l *linter) path(path string) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = "{}"
		}
	}
	shape := strings.Join(parts, "/")
	if other, taken := l.shapes[shape]; taken {
		l.report("%s and %s are the same path", other, path)
	}
	l.shapes[shape] = path
}

func (l *linter) operation(path, method string, op *openapi3.Operation) {
	where := method + " " + path
	for name, text := range map[string]string{"operationId": op.OperationID, "summary": op.Summary, "description": op.Description} {
		if text == "" {
			l.report("%s has no %s", where, name)
		}
	}
	if other, taken := l.ids[op.OperationID]; taken {
		l.report("%s and %s have the same operationId %s", other, where, op.OperationID)
	}
	l.ids[op.OperationID] = where
	if len(op.Tags) != 1 || l.doc.Tags.Get(op.Tags[0]) == nil {
		l.report("%s must have one tag of those that the document describes", where)
	}
	if op.Security == nil {
		l.report("%s does not say which credentials it takes", where)
	}
	l.statuses(path, where, op)
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		l.response(path, where+" "+status, status, op.Responses.Value(status).Value)
	}
}

// statuses finds failures that can meet the operation and are not documented.
func (l *linter) statuses(path, where string, op *openapi3.Operation) {
	needed := []int{401, 500, 503}
	if strings.HasPrefix(path, "/v2/") {
		needed = append(needed, 429)
	}
	if strings.Contains(path, "{") || len(op.Parameters) > 0 || op.RequestBody != nil {
		needed = append(needed, 400)
	}
	if op.RequestBody != nil {
		needed = append(needed, 413, 415)
	}
	for _, status := range needed {
		if op.Responses.Status(status) == nil {
			l.report("%s does not document %d", where, status)
		}
	}
}

func (l *linter) response(path, where, status string, r *openapi3.Response) {
	if strings.HasPrefix(path, "/v2/") {
		for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			if h := r.Headers[name]; h == nil || !h.Value.Required {
				l.report("%s does not require the header %s", where, name)
			}
		}
	}
	if h := r.Headers["Retry-After"]; (status == "429" || status == "503") && (h == nil || !h.Value.Required) {
		l.report("%s does not require the header Retry-After", where)
	}
	media := r.Content["application/json"]
	code, err := strconv.Atoi(status)
	switch {
	case err != nil:
		l.report("%s is not a status", where)
	case code >= 400 && (media == nil || media.Schema == nil || media.Schema.Ref != "#/components/schemas/Error"):
		l.report("%s does not answer the {message} body", where)
	case media != nil && media.Schema == nil:
		l.report("%s has no schema", where)
	case media != nil && media.Example == nil && len(media.Examples) == 0:
		l.report("%s has no example", where)
	case media != nil && path != "/v2/openapi.json":
		l.closed(where, media.Schema, map[string]bool{})
	}
}

// closed finds objects that allow an unknown or a missing property in an answer.
func (l *linter) closed(where string, ref *openapi3.SchemaRef, seen map[string]bool) {
	if ref == nil || ref.Value == nil || (ref.Ref != "" && seen[ref.Ref]) {
		return
	}
	seen[ref.Ref] = true
	s := ref.Value
	if s.Type.Is("object") || len(s.AllOf) > 0 {
		if open := s.UnevaluatedProperties.Has == nil || *s.UnevaluatedProperties.Has; open {
			l.report("%s: an object %s takes unknown properties; set unevaluatedProperties to false", where, ref.Ref)
		}
		// TypeScript's generators read required beside allOf, Go's read it inside.
		properties, required := together(s)
		if len(s.AllOf) > 0 && !slices.Equal(slices.Sorted(slices.Values(s.Required)), slices.Sorted(slices.Values(required))) {
			l.report("%s: %s requires other properties beside allOf than in it", where, ref.Ref)
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !slices.Contains(s.Required, name) {
				l.report("%s: the property %s of %s is not required", where, name, ref.Ref)
			}
			l.closed(where+" ."+name, properties[name], seen)
		}
	}
	l.closed(where+"[]", s.Items, seen)
	for _, branch := range slices.Concat(s.OneOf, s.AnyOf) {
		l.closed(where, branch, seen)
	}
}

// together returns the properties of a schema and its allOf, and what its allOf requires.
func together(s *openapi3.Schema) (properties openapi3.Schemas, required []string) {
	properties = maps.Clone(s.Properties)
	for _, part := range s.AllOf {
		if properties == nil {
			properties = openapi3.Schemas{}
		}
		maps.Copy(properties, part.Value.Properties)
		required = append(required, part.Value.Required...)
	}
	return properties, required
}
