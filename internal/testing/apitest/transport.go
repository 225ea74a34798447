package apitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/routers"
)

// badRequestKey marks the context of a request with Bad.
type badRequestKey struct{}

// newTransport returns a transport that sends requests through base (http.DefaultTransport if nil) and fails tb when
//   - a request violates the description and is not marked by Bad;
//   - the service answers 2xx to a request that violates it, or that lacks a required key or token;
//   - an answer violates it: an undocumented status, a missing or invalid header, a wrong body, or a body where there is none;
//   - an unknown address or method is answered by anything but a failure of the documented form.
//
// The caller gets the answer in any case. The transport is safe for concurrent use while tb runs.
func newTransport(tb testing.TB, base http.RoundTripper) http.RoundTripper {
	tb.Helper()
	if base == nil {
		base = http.DefaultTransport
	}
	d, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	return &transport{description: d, tb: tb, base: base}
}

type transport struct {
	description
	tb   testing.TB
	base http.RoundTripper
}

// RoundTrip sends the request and checks it and its answer.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.tb.Helper()
	sent, err := drain(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	forwarded := r.Clone(r.Context())
	if r.Body != nil {
		forwarded.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := t.base.RoundTrip(forwarded)
	if err != nil {
		return nil, err
	}
	received, err := drain(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer's body: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(received))

	x := exchange{bodies: t.bodies, request: r, sent: sent, response: resp, received: received}
	for _, problem := range t.check(x) {
		t.tb.Errorf("docs/openapi.json: %s\n%s", problem, x)
	}
	return resp, nil
}

func (t *transport) check(x exchange) []error {
	route, params, err := t.route(x.request)
	switch {
	case errors.Is(err, routers.ErrMethodNotAllowed) && x.request.Method == http.MethodOptions:
		return x.preflight()
	case err != nil:
		return x.undocumented(t.doc, t.documentedMethods(x.request))
	}
	return append(x.checkRequest(route, params), x.checkAnswer(route, params)...)
}

// route finds the operation. HEAD is GET without the body, so it has no operations of its own.
func (t *transport) route(r *http.Request) (*routers.Route, map[string]string, error) {
	if r.Method == http.MethodHead {
		r = r.Clone(r.Context())
		r.Method = http.MethodGet
	}
	return t.router.FindRoute(r)
}

// documentedMethods returns the methods that Allow must list for the request's path, none for an unknown path.
func (t *transport) documentedMethods(r *http.Request) []string {
	var methods []string
	probe := r.Clone(r.Context())
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe.Method = method
		if _, _, err := t.router.FindRoute(probe); err != nil {
			continue
		}
		methods = append(methods, method)
		if method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	return methods
}

func drain(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	defer func() { _ = body.Close() }()
	return io.ReadAll(body)
}

// exchange is a request and its answer.
type exchange struct {
	bodies   bodies
	request  *http.Request
	sent     []byte
	response *http.Response
	received []byte
}

// underV2 reports whether the answer must have the limits' headers.
func (x exchange) underV2() bool {
	return x.request.URL.Path == "/v2" || strings.HasPrefix(x.request.URL.Path, "/v2/")
}

// String returns the exchange without its credentials.
func (x exchange) String() string {
	return fmt.Sprintf("  sent:     %s %s %s\n  received: %d %s", x.request.Method, x.request.URL.RequestURI(),
		cut(x.sent), x.response.StatusCode, cut(x.received))
}

func cut(b []byte) string {
	const most = 600
	if len(b) > most {
		return string(b[:most]) + "..."
	}
	return string(b)
}
