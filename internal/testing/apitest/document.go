// Package apitest checks the API against docs/openapi.json, the description: with a transport that checks every request and every answer, a
// client on that transport, and a lint of the description itself. It starts no service.
package apitest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"levelboard/docs"
)

// loadDocument loads the description and validates it with its examples as OpenAPI 3.1. Each call returns a new document.
func loadDocument(tb testing.TB) *openapi3.T {
	tb.Helper()
	doc, err := load()
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

func load() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		return nil, fmt.Errorf("docs/openapi.json cannot be loaded: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableMultiError()); err != nil {
		return nil, fmt.Errorf("docs/openapi.json is not a valid OpenAPI document: %w", err)
	}
	return doc, nil
}

// description is the document with its routes. All transports of a process share one, because loading it takes long.
type description struct {
	doc    *openapi3.T
	router routers.Router
	bodies bodies
}

// bodies are the compiled schemas of JSON bodies. The validator would compile one for each body and parameter that it checks, so it gets no
// schemas of bodies, and an older version of OpenAPI that is enough for parameters and headers.
type bodies map[*openapi3.MediaType]*jsonschema.Schema

func compileBodies(doc *openapi3.T) (bodies, error) {
	compiler, content := jsonschema.NewCompiler(), []openapi3.Content{}
	compiler.AssertFormat()
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(docs.OpenAPI))
	if err != nil {
		return nil, err
	}
	if err := compiler.AddResource("openapi.json", whole); err != nil {
		return nil, err
	}
	for _, response := range doc.Components.Responses {
		content = append(content, response.Value.Content)
	}
	for _, path := range doc.Paths.Map() {
		for _, operation := range path.Operations() {
			if operation.RequestBody != nil {
				content = append(content, operation.RequestBody.Value.Content)
			}
			for _, response := range operation.Responses.Map() {
				content = append(content, response.Value.Content)
			}
		}
	}
	compiled := bodies{}
	for _, types := range content {
		media := types["application/json"]
		if media == nil || media.Schema == nil || media.Schema.Ref == "" {
			continue // the validator checks inline schemas
		}
		if compiled[media], err = compiler.Compile("openapi.json" + media.Schema.Ref); err != nil {
			return nil, err
		}
		media.Schema = nil
	}
	doc.OpenAPI = "3.0.3"
	return compiled, nil
}

// check checks a body against its content's schema. The media type is checked elsewhere.
func (b bodies) check(content openapi3.Content, mediaType string, body []byte) error {
	schema := b[content.Get(mediaType)]
	if schema == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

var shared = sync.OnceValues(func() (description, error) {
	doc, err := load()
	if err != nil {
		return description{}, err
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return description{}, fmt.Errorf("docs/openapi.json cannot be routed: %w", err)
	}
	compiled, err := compileBodies(doc)
	if err != nil {
		return description{}, fmt.Errorf("the schemas of docs/openapi.json cannot be compiled: %w", err)
	}
	return description{doc, router, compiled}, nil
})
