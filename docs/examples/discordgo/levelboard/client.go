// Package levelboard is for bots of any chat. Its Client makes calls that back off and may be repeated; its Bot keeps boards
// and roles alike.
package levelboard

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	jitter "math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-resty/resty/v2"
	"github.com/tmaxmax/go-sse"
)

// Answer has those fields of answers and events in openapi.json that a bot needs, and an answer's body.
type Answer struct {
	ID, Kind, Name, UserID            string
	Closed                            bool
	Rank, Level, XP, Gained           int
	AddRoles, RemoveRoles             []string
	Levels, Results, Periods, Winners []Answer
	Body                              []byte `json:"-"`
}

// Client calls Levelboard. Goroutines may share it.
type Client struct {
	calls, streams *resty.Client
	queue          sync.Mutex // one call at a time, so that a single 429 stops them all
}

// NewClient returns a client of the service at a URL, with an API key that may write.
func NewClient(url, key string) *Client {
	c := &Client{calls: resty.New(), streams: resty.New()}
	c.streams.SetBaseURL(url).SetHeader("X-Api-Key", key)
	c.calls.SetBaseURL(url).SetHeader("X-Api-Key", key).SetTimeout(20 * time.Second)
	c.calls.SetRetryCount(8).SetRetryMaxWaitTime(time.Hour).SetRetryAfter(wait)
	c.calls.AddRetryCondition(func(r *resty.Response, err error) bool {
		return err != nil || r.StatusCode() == http.StatusTooManyRequests || r.StatusCode() >= http.StatusInternalServerError
	})
	return c
}

// wait returns the time until the next attempt: a second, doubled each time up to a minute, or what Levelboard asks for.
func wait(_ *resty.Client, r *resty.Response) (time.Duration, error) {
	return max(min(time.Minute, time.Second<<(r.Request.Attempt-1)), retryAfter(r)) + jitter.N(time.Second/2), nil
}

func retryAfter(r *resty.Response) time.Duration {
	seconds, _ := strconv.Atoi(r.Header().Get("Retry-After"))
	return time.Duration(seconds) * time.Second
}

// Call sends a request after those before it. After 429, 5xx or no answer it repeats the request, up to eight times in about
// five minutes: under one Idempotency-Key a change is made once. Any status but 2xx is an error.
func (c *Client) Call(method, path string, body any) (a Answer, err error) {
	c.queue.Lock()
	defer c.queue.Unlock()
	r, err := c.calls.R().SetHeader("Idempotency-Key", rand.Text()).SetBody(body).SetResult(&a).Execute(method, path)
	if err != nil {
		return a, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if r.IsError() {
		return a, fmt.Errorf("%s %s: %s %s", method, path, r.Status(), r)
	}
	limit, _ := strconv.Atoi(r.Header().Get("X-RateLimit-Limit"))
	if left, err := strconv.Atoi(r.Header().Get("X-RateLimit-Remaining")); err == nil && left < limit/10 {
		time.Sleep(time.Minute / time.Duration(limit)) // the budget refills by one
	}
	if r.Header().Get("Idempotent-Replayed") != "" {
		a.Results = nil // they may be old: the events have the roles
	}
	a.Body = r.Body()
	return a, nil
}

// silence is how long a stream may be silent. It has a sign of life every 15 seconds.
const silence = 30 * time.Second

// stream calls apply for each event of a guild after the one with an id, until apply fails, or the stream ends or is silent.
func (c *Client) stream(guildID, after string, apply func(sse.Event) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request := c.streams.R().SetContext(ctx).SetDoNotParseResponse(true)
	if after != "" {
		request.SetHeader("Last-Event-ID", after)
	}
	watch := alarm{time.AfterFunc(silence, cancel)}
	r, err := request.Get("/v2/guilds/" + guildID + "/events")
	if err != nil {
		return err
	}
	defer r.RawBody().Close()
	if r.IsError() {
		time.Sleep(cmp.Or(retryAfter(r), time.Minute))
		return errors.New(r.Status())
	}
	for event, err := range sse.Read(io.TeeReader(r.RawBody(), watch), nil) {
		if err != nil {
			return err
		}
		if err := apply(event); err != nil {
			return err
		}
	}
	return io.EOF
}

// alarm is a timer that each sign of life sets back.
type alarm struct{ *time.Timer }

func (a alarm) Write(p []byte) (int, error) {
	a.Reset(silence)
	return len(p), nil
}
