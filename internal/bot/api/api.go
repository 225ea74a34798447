// Package api calls Levelboard's public API as any bot can: calls that are repeated where that may help, and the stream of events.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/tmaxmax/go-sse"
)

const (
	firstWait = 250 * time.Millisecond // before the second attempt
	callTime  = 20 * time.Second       // one attempt
	silence   = 30 * time.Second       // of a stream, which has a sign of life every 15 seconds
)

// Client calls one service. Goroutines may share it.
type Client struct {
	base           string
	calls, streams *http.Client
}

// New returns a client of the service at a base URL.
func New(base string) *Client {
	calls := retryablehttp.NewClient() // tries five times; the keeper tries again later
	calls.Logger, calls.HTTPClient.Timeout, calls.RetryWaitMin = nil, callTime, firstWait
	calls.ErrorHandler = retryablehttp.PassthroughErrorHandler // the last answer says why
	calls.CheckRetry = func(ctx context.Context, answer *http.Response, err error) (bool, error) {
		again, _ := retryablehttp.DefaultRetryPolicy(ctx, answer, err) // an answer counts, although ctx has ended
		return again, nil
	}
	return &Client{base: base, calls: calls.StandardClient(), streams: &http.Client{Transport: calls.HTTPClient.Transport}}
}

// Request is one call.
type Request struct {
	Method, Path string
	Body         any    // encoded as JSON; nil for none
	Key          string // the API key
	AdminToken   string // in place of a key, under /admin
	Once         string // the Idempotency-Key
	After        string // the Last-Event-ID of a stream
	Reason       string // for the audit log
}

// Error is an answer that is no success.
type Error struct {
	Status  int
	Message string
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

// Ping asks the service for anything.
func (c *Client) Ping(ctx context.Context) error {
	return c.Do(ctx, Request{Method: http.MethodHead, Path: "/v2/openapi.json"}, nil)
}

// Do makes a call, and repeats it a few times while that may help. out takes the answer: a []byte as it is, else JSON; nil drops it.
// A change that may have been made is repeated under the same Idempotency-Key, so it is made once.
func (c *Client) Do(ctx context.Context, r Request, out any) error {
	answer, err := c.open(ctx, c.calls, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	if picture, is := out.(*[]byte); is {
		*picture = body
	} else if out != nil && json.Unmarshal(body, out) != nil {
		return &Error{Status: answer.StatusCode, Message: "the answer is not the JSON that Levelboard sends: check LEVELBOARD_URL"}
	}
	return nil
}

// open makes a call. It returns an answer that is a success, or an Error.
func (c *Client) open(ctx context.Context, client *http.Client, r Request) (*http.Response, error) {
	var text []byte
	if r.Body != nil {
		text, _ = json.Marshal(r.Body) // maps of what JSON has
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, c.base+r.Path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Api-Key": r.Key, "Idempotency-Key": r.Once, "Last-Event-ID": r.After, "X-Audit-Log-Reason": url.PathEscape(r.Reason),
	} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if r.AdminToken != "" {
		request.Header.Set("Authorization", "Bearer "+r.AdminToken)
	}
	answer, err := client.Do(request)
	if err != nil || answer.StatusCode/100 == 2 {
		return answer, err
	}
	defer answer.Body.Close()
	var said struct{ Message string }
	_ = json.NewDecoder(answer.Body).Decode(&said) // a proxy's page has no message
	return nil, &Error{Status: answer.StatusCode, Message: cmp.Or(said.Message, http.StatusText(answer.StatusCode))}
}

// Event is one event of a guild. Type is empty for the first id of a stream.
type Event struct {
	ID, Type string
	Data     EventData
}

// At is when the event happened: its id begins with the milliseconds.
func (e Event) At() time.Time {
	text, _, _ := strings.Cut(e.ID, "-")
	ms, _ := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(ms)
}

// EventData is what the events that the bot uses hold.
type EventData struct {
	UserID, ChannelID        string
	Level, PreviousLevel, XP int
	Silent, Hidden           bool

	PeriodID   string `json:"id"`
	Kind, Name string
	Winners    []struct{ UserID string }
}

// Stream calls apply for each event of a guild after the one with an id, in order, until the stream ends, is silent, or ctx ends.
func (c *Client) Stream(ctx context.Context, key, guildID, after string, apply func(Event)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	answer, err := c.open(ctx, c.streams, Request{Method: http.MethodGet, Path: "/v2/guilds/" + guildID + "/events", Key: key, After: after})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for event, err := range sse.Read(io.TeeReader(answer.Body, alarm{watch}), nil) {
		if err != nil {
			return err
		}
		e := Event{ID: event.LastEventID, Type: event.Type}
		if err := json.Unmarshal([]byte(cmp.Or(event.Data, "{}")), &e.Data); err != nil {
			return err
		}
		apply(e)
	}
	return io.EOF
}

// alarm is a timer that each sign of life sets back.
type alarm struct{ *time.Timer }

func (a alarm) Write(p []byte) (int, error) {
	a.Reset(silence)
	return len(p), nil
}
