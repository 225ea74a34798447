package apitest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// Client sends requests to one service, and checks each request and each answer against the description. It is safe for concurrent use while
// its test runs.
type Client struct {
	tb   testing.TB
	base string
	http *http.Client
}

// NewClient returns a client of the service at base, an address without a path. Its idle connections are closed when the test ends.
func NewClient(tb testing.TB, base string) *Client {
	tb.Helper()
	pool := &http.Transport{}
	tb.Cleanup(pool.CloseIdleConnections)
	return &Client{
		tb: tb, base: strings.TrimSuffix(base, "/"),
		http: &http.Client{
			Transport:     newTransport(tb, pool),
			Timeout:       30 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Response is an answer, read to its end.
type Response testenv.Answer

// Option changes a request before it is sent.
type Option func(*http.Request)

// Header sets a header of the request.
func Header(name, value string) Option {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// AdminToken sends the admin token.
func AdminToken(token string) Option { return Header("Authorization", "Bearer "+token) }

// Bad marks a request that violates the description on purpose. The client sends it, and the test fails if the service accepts it.
func Bad() Option {
	return func(r *http.Request) { *r = *r.WithContext(context.WithValue(r.Context(), badRequestKey{}, true)) }
}

// Do sends a request to path, which may have a query. key is the API key, or empty. body is a string or bytes sent unchanged, nil for none, or
// anything else as JSON; with a body the Content-Type is application/json. A request without an answer fails the test at once, so call Do in
// the test's own goroutine.
func (c *Client) Do(method, path, key string, body any, options ...Option) Response {
	c.tb.Helper()
	resp, err := c.send(method, path, key, body, options...)
	if err != nil {
		c.tb.Fatalf("%s %s got no answer: %v", method, path, err)
	}
	return resp
}

// send is Do with an error for a request without an answer.
func (c *Client) send(method, path, key string, body any, options ...Option) (Response, error) {
	content, err := encode(body)
	if err != nil {
		return Response{}, err
	}
	r, err := http.NewRequestWithContext(context.Background(), method, c.base+path, content)
	if err != nil {
		return Response{}, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("X-Api-Key", key)
	}
	for _, option := range options {
		option(r)
	}
	answer, err := testenv.Exchange(c.http, r)
	return Response(answer), err
}

func encode(body any) (io.Reader, error) {
	switch b := body.(type) {
	case nil:
		return nil, nil
	case string:
		return strings.NewReader(b), nil
	case []byte:
		return strings.NewReader(string(b)), nil
	}
	encoded, err := json.Marshal(body)
	return strings.NewReader(string(encoded)), err
}

// Want fails the test at once unless the answer has this status, and returns the answer.
func (r Response) Want(tb testing.TB, status int) Response {
	tb.Helper()
	if r.Status != status {
		tb.Fatalf("got status %d, want %d; body %s", r.Status, status, cut(r.Body))
	}
	return r
}

// JSON decodes the body into a fresh T, or fails the test at once.
func JSON[T any](tb testing.TB, r Response) T {
	tb.Helper()
	var value T
	if err := json.Unmarshal(r.Body, &value); err != nil {
		tb.Fatalf("decoding the body of a %d: %v; %s", r.Status, err, cut(r.Body))
	}
	return value
}

// At returns the value at a path of property names and indexes in the body, such as At[float64](tb, r, "levels", 0, "xp"), or fails the test
// at once. Numbers are float64. A null is the zero value of a pointer or any type.
func At[T any](tb testing.TB, r Response, path ...any) T {
	tb.Helper()
	value := JSON[any](tb, r)
	for _, step := range path {
		switch s := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			next, ok := object[s]
			if !ok {
				tb.Fatalf("the body has no %v: %s", path, cut(r.Body))
			}
			value = next
		case int:
			array, _ := value.([]any)
			if s < 0 || s >= len(array) {
				tb.Fatalf("the body has no %v: %s", path, cut(r.Body))
			}
			value = array[s]
		default:
			tb.Fatalf("a path has names and indexes, not a %T", step)
		}
	}
	typed, ok := value.(T)
	if !ok && value != nil {
		tb.Fatalf("%v is %v (%T), want a %T, in %s", path, value, value, typed, cut(r.Body))
	}
	return typed
}

// Message returns the message of a failure, or fails the test at once.
func (r Response) Message(tb testing.TB) string {
	tb.Helper()
	return At[string](tb, r, "message")
}
