package apitest

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-json-experiment/json/jsontext"
)

// checkAnswer checks the answer of an operation in openapi.json.
func (x exchange) checkAnswer(route *routers.Route, params map[string]string) []error {
	described := route.Operation.Responses.Status(x.response.StatusCode)
	if described == nil {
		return []error{fmt.Errorf("the status %d is not documented for %s %s", x.response.StatusCode, route.Method, route.Path)}
	}
	return x.matches(described, route, params)
}

// matches checks the answer against one documented response.
func (x exchange) matches(described *openapi3.ResponseRef, route *routers.Route, params map[string]string) []error {
	var problems []error
	if bodiless := x.request.Method == http.MethodHead || len(described.Value.Content) == 0; bodiless {
		if len(x.received) > 0 {
			problems = append(problems, fmt.Errorf("the answer has a body, want none"))
		}
		described = headersOnly(described)
	} else if err := x.readable(); err != nil {
		problems = append(problems, err)
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: x.input(only(route, described), params, nil),
		Status:                 http.StatusOK,
		Header:                 x.response.Header,
		Body:                   io.NopCloser(bytes.NewReader(x.received)),
	}
	input.Options = input.RequestValidationInput.Options
	err := openapi3filter.ValidateResponse(context.Background(), input)
	if err == nil {
		err = x.bodies.check(described.Value.Content, x.response.Header.Get("Content-Type"), x.received)
	}
	if err != nil {
		problems = append(problems, fmt.Errorf("the answer violates the description: %w", err))
	}
	return problems
}

// readable checks that the body has the format of its media type.
func (x exchange) readable() error {
	switch media := x.response.Header.Get("Content-Type"); media {
	case "image/svg+xml":
		return wellFormed(x.received)
	case "image/png":
		if _, err := png.Decode(bytes.NewReader(x.received)); err != nil {
			return fmt.Errorf("the answer is not a PNG: %w", err)
		}
	case "text/csv; charset=utf-8":
		if _, err := csv.NewReader(bytes.NewReader(x.received)).ReadAll(); err != nil {
			return fmt.Errorf("the answer is not CSV: %w", err)
		}
	default:
		if !jsontext.Value(x.received).IsValid() {
			return errors.New("the answer is not one JSON value in UTF-8 with unique names")
		}
	}
	return nil
}

func wellFormed(document []byte) error {
	for decoder := xml.NewDecoder(bytes.NewReader(document)); ; {
		if _, err := decoder.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("the answer is not well-formed XML: %w", err)
		}
	}
}

func headersOnly(described *openapi3.ResponseRef) *openapi3.ResponseRef {
	stripped := *described.Value
	stripped.Content = nil
	return &openapi3.ResponseRef{Value: &stripped}
}

// only returns the route with described as the only answer to a GET. The validator does not check HEAD and 304, so they are given to it
// in this form.
func only(route *routers.Route, described *openapi3.ResponseRef) *routers.Route {
	narrowed, operation := *route, *route.Operation
	operation.Responses = openapi3.NewResponses(openapi3.WithStatus(http.StatusOK, described))
	narrowed.Operation, narrowed.Method = &operation, http.MethodGet
	return &narrowed
}

// undocumented checks the answer for an address or a method that openapi.json lacks. It must be a failure that can meet any request, and 405
// with the right Allow only for a wrong method.
func (x exchange) undocumented(doc *openapi3.T, methods []string) []error {
	names := map[int]string{
		http.StatusUnauthorized: "Unauthorized", http.StatusNotFound: "NotFound",
		http.StatusInternalServerError: "InternalError", http.StatusServiceUnavailable: "Unavailable",
	}
	if strings.Contains(x.request.URL.EscapedPath()+"/", "//") {
		names[http.StatusBadRequest] = "BadRequest" // a documented address with an empty id
	}
	if len(methods) > 0 {
		delete(names, http.StatusNotFound)
		names[http.StatusMethodNotAllowed] = "BadRequest" // any failure has its form, and no operation can document 405
	}
	prefix := "Admin"
	if x.underV2() {
		prefix = ""
		names[http.StatusTooManyRequests] = "TooManyRequests"
	}
	name, ok := names[x.response.StatusCode]
	if !ok {
		return []error{fmt.Errorf("%s %s is not in the description, so it must not be answered with %d",
			x.request.Method, x.request.URL.Path, x.response.StatusCode)}
	}
	route := &routers.Route{Spec: doc, PathItem: &openapi3.PathItem{}, Operation: &openapi3.Operation{}}
	problems := x.matches(doc.Components.Responses[prefix+name], route, nil)
	if x.response.StatusCode == http.StatusMethodNotAllowed {
		problems = append(problems, x.allows(methods)...)
	}
	return problems
}

func (x exchange) allows(methods []string) []error {
	var listed []string
	for method := range strings.SplitSeq(strings.Join(x.response.Header.Values("Allow"), ","), ",") {
		if method = strings.TrimSpace(method); method != "" && method != http.MethodOptions {
			listed = append(listed, method)
		}
	}
	slices.Sort(listed)
	slices.Sort(methods)
	if !slices.Equal(listed, methods) {
		return []error{fmt.Errorf("the Allow header lists %v, but the description has %v", listed, methods)}
	}
	return nil
}

// preflight checks the answer to OPTIONS, which the description leaves to the CORS protocol.
func (x exchange) preflight() []error {
	var problems []error
	if !x.underV2() {
		return nil
	}
	for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		if x.response.Header.Get(name) == "" {
			problems = append(problems, fmt.Errorf("the preflight's answer lacks the header %s", name))
		}
	}
	return problems
}
