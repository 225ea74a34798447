package apitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-json-experiment/json/jsontext"
)

// checkRequest checks the request, and that the service accepted no invalid one.
func (x exchange) checkRequest(route *routers.Route, params map[string]string) []error {
	marked := x.request.Context().Value(badRequestKey{}) != nil
	accepted := x.response.StatusCode < 300
	var problems []error
	if err := x.violation(route, params); err != nil {
		if !marked {
			problems = append(problems, fmt.Errorf("the request violates the description, and is not marked by Bad: %w", err))
		}
		if accepted {
			problems = append(problems, fmt.Errorf("the service accepted a request that violates the description: %w", err))
		}
	}
	if err := x.credentials(route, params); err != nil && accepted {
		problems = append(problems, fmt.Errorf("the service answered a request without credentials: %w", err))
	}
	return problems
}

// violation returns how the request violates the description, credentials apart. It adds rules that JSON Schema lacks: nothing is given
// twice, and bodies are UTF-8.
func (x exchange) violation(route *routers.Route, params map[string]string) error {
	values, err := url.ParseQuery(x.request.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("the query is malformed: %w", err)
	}
	for name, given := range values {
		if len(given) > 1 {
			return fmt.Errorf("the query parameter %q is given more than once", name)
		}
	}
	if route.Operation.RequestBody != nil && !jsontext.Value(x.sent).IsValid() {
		return errors.New("the body is not one JSON value in UTF-8 with unique names")
	}
	if err := openapi3filter.ValidateRequest(context.Background(), x.input(route, params, openapi3filter.NoopAuthenticationFunc)); err != nil {
		return err
	}
	if route.Operation.RequestBody == nil || len(x.sent) == 0 {
		return nil
	}
	return x.bodies.check(route.Operation.RequestBody.Value.Content, x.request.Header.Get("Content-Type"), x.sent)
}

func (x exchange) credentials(route *routers.Route, params map[string]string) error {
	required := route.Operation.Security
	if required == nil {
		return nil
	}
	input := x.input(route, params, func(_ context.Context, a *openapi3filter.AuthenticationInput) error {
		header := "Authorization"
		if a.SecurityScheme.Type == "apiKey" {
			header = a.SecurityScheme.Name
		}
		if x.request.Header.Get(header) == "" {
			return fmt.Errorf("the header %s is missing", header)
		}
		return nil
	})
	return openapi3filter.ValidateSecurityRequirements(context.Background(), input, *required)
}

// input returns a copy of the request that the validator may change.
func (x exchange) input(route *routers.Route, params map[string]string, auth openapi3filter.AuthenticationFunc) *openapi3filter.RequestValidationInput {
	copied := x.request.Clone(context.Background())
	copied.Method = route.Method
	copied.URL.RawQuery = withinInt64(copied.URL, route)
	copied.Body, copied.GetBody = http.NoBody, nil
	if len(x.sent) > 0 {
		copied.Body = io.NopCloser(bytes.NewReader(x.sent))
	}
	return &openapi3filter.RequestValidationInput{
		Request: copied, Route: route, PathParams: params,
		Options: &openapi3filter.Options{
			AuthenticationFunc: auth, IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true,
		},
	}
}

// withinInt64 returns the query with integers beyond the validator's range replaced by the largest in the range. The description allows
// them where it sets no maximum.
func withinInt64(u *url.URL, route *routers.Route) string {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return u.RawQuery
	}
	for _, parameter := range route.Operation.Parameters {
		p := parameter.Value
		if p.In != openapi3.ParameterInQuery || !p.Schema.Value.Type.Is(openapi3.TypeInteger) || !values.Has(p.Name) {
			continue
		}
		// Out of its range ParseInt returns the nearest value.
		if n, err := strconv.ParseInt(values.Get(p.Name), 10, 64); errors.Is(err, strconv.ErrRange) {
			values.Set(p.Name, strconv.FormatInt(n, 10))
		}
	}
	return values.Encode()
}
