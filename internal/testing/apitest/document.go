// Package apitest holds the tests of the API to its description, docs/openapi.json: a transport that checks every request
// and every answer against it, a client on that transport, and a lint of the description itself.
package apitest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"levelboard/docs"
)

// loadDocument loads the description and checks it, with its examples, as an OpenAPI 3.1 document. Each call returns its own.
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

// description is the document with its routes. Loading takes long enough that all transports of a process share one.
type description struct {
	doc    *openapi3.T
	router routers.Router
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
	return description{doc, router}, nil
})
