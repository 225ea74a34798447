// Package api calls Levelboard's public API as any bot can: calls that back off and may be repeated, and the stream of events.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	firstWait   = 250 * time.Millisecond // before the second attempt; doubled for each one after it
	longestWait = 10 * time.Second       // between two attempts, unless the service asks for more
	callTime    = 20 * time.Second       // one attempt
	maxAnswer   = 16 << 20
)

// Client calls one service. Goroutines may share it.
type Client struct {
	base string
	http *http.Client
	away atomic.Bool // the last attempt got no answer, or a 5xx
}

// New returns a client of the service at a base URL.
func New(base string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.IdleConnTimeout = time.Minute
	return &Client{base: base, http: &http.Client{Transport: transport}}
}

// Request is one call.
type Request struct {
	Method, Path string
	Body         any    // encoded as JSON; nil for none
	Key          string // the API key
	AdminToken   string // in place of a key, under /admin
	Once         string // the Idempotency-Key
	Reason       string // for the audit log
}

// Error is an answer that is no success.
type Error struct {
	Status  int
	Message string
	after   time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("%d: %s", e.Status, e.Message) }

// Status returns the status of an Error, or 0.
func Status(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// Passing reports whether the same call may succeed later: there was no answer, or it was 429 or 5xx.
func Passing(err error) bool {
	status := Status(err)
	return err != nil && (status == 0 || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError)
}

// Away reports whether the last attempt found the service away.
func (c *Client) Away() bool { return c.away.Load() }

// Ping asks the service for anything.
func (c *Client) Ping(ctx context.Context) error {
	return c.try(ctx, Request{Method: http.MethodHead, Path: "/v2/openapi.json"}, nil)
}

// Do makes a call, and repeats it while that may help, until ctx ends. out takes the answer: a []byte as it is, else JSON; nil drops it.
// A change that may have been made is repeated under the same Idempotency-Key, so it is made once.
func (c *Client) Do(ctx context.Context, r Request, out any) error {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		err := c.try(ctx, r, out)
		if !Passing(err) {
			return err
		}
		pause := wait + rand.N(wait/2)
		if e, ok := errors.AsType[*Error](err); ok {
			pause = max(pause, e.after+rand.N(firstWait))
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

func (c *Client) try(ctx context.Context, r Request, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	answer, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	switch out := out.(type) {
	case nil:
	case *[]byte:
		*out = body
	default:
		if err := json.Unmarshal(body, out); err != nil {
			return &Error{Status: answer.StatusCode, Message: "the answer is not the JSON that Levelboard sends: check LEVELBOARD_URL"}
		}
	}
	return nil
}

// send returns the answer, whose body the caller closes, if its status is a success.
func (c *Client) send(ctx context.Context, r Request) (*http.Response, error) {
	var body io.Reader
	if r.Body != nil {
		text, err := json.Marshal(r.Body)
		if err != nil {
			return nil, &Error{Status: http.StatusBadRequest, Message: err.Error()}
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, c.base+r.Path, body)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Api-Key": r.Key, "Idempotency-Key": r.Once, "X-Audit-Log-Reason": url.PathEscape(r.Reason),
	} {
		if value != "" && (name != "Content-Type" || body != nil) {
			request.Header.Set(name, value)
		}
	}
	if r.AdminToken != "" {
		request.Header.Set("Authorization", "Bearer "+r.AdminToken)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.away.Store(true)
		}
		return nil, err
	}
	c.away.Store(answer.StatusCode >= http.StatusInternalServerError)
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, failure(answer)
}

func failure(answer *http.Response) error {
	var said struct{ Message string }
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	_ = json.Unmarshal(text, &said) // a proxy's page has no message
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return &Error{
		Status: answer.StatusCode, Message: cmp.Or(said.Message, http.StatusText(answer.StatusCode)), after: time.Duration(seconds) * time.Second,
	}
}
