package health_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/platform/health"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func get(t *testing.T, m *health.Monitor, target string) (status int, body string) {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Ready(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
	return answer.Code, answer.Body.String()
}

func want(t *testing.T, m *health.Monitor, target string, status int, body string) {
	t.Helper()
	if gotStatus, got := get(t, m, target); gotStatus != status || got != body+"\n" {
		t.Errorf("%s is %d %s, want %d %s", target, gotStatus, got, status, body)
	}
}

// store is a dependency that a test can fail.
type store struct{ err atomic.Pointer[error] }

func (s *store) ping(context.Context) error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *store) away(err error) { s.err.Store(&err) }

func TestReadinessFollowsTheNeededStores(t *testing.T) {
	var redis, archive store
	m := health.New(slog.New(slog.DiscardHandler), time.Minute)
	want(t, m, "/readyz", 503, "not ready: the service is starting")
	want(t, m, "/readyz?verbose", 503,
		`{"ready":false,"reason":"the service is starting","service":{"state":"starting","reason":"it opens its stores"}}`)

	m.Runs(health.Dependency{Name: "redis", Needed: true, Ping: redis.ping}, health.Dependency{Name: "archive", Ping: archive.ping})
	want(t, m, "/readyz", 200, "ok")
	want(t, m, "/readyz?verbose", 200, `{"archive":{"state":"ok"},"ready":true,"redis":{"state":"ok"},"service":{"state":"running"}}`)

	archive.away(errors.New("gone"))
	want(t, m, "/readyz", 200, "ok")
	want(t, m, "/readyz?verbose", 200,
		`{"archive":{"state":"unreachable","reason":"it cannot be reached"},"ready":true,"redis":{"state":"ok"},"service":{"state":"running"}}`)

	redis.away(context.DeadlineExceeded)
	want(t, m, "/readyz", 503, "not ready: redis: it does not answer in time")

	redis.err.Store(nil)
	archive.err.Store(nil)
	m.Stops()
	want(t, m, "/readyz", 503, "not ready: the service is stopping")
	want(t, m, "/readyz?verbose", 503, `{"archive":{"state":"ok"},"ready":false,"reason":"the service is stopping","redis":{"state":"ok"},`+
		`"service":{"state":"stopping","reason":"it takes no more requests"}}`)
}

// refusal is the error of a Redis that only answers reads.
type refusal string

func (r refusal) Error() string { return string(r) }

func (refusal) RedisError() {}

// A store that refuses changes is ready. Only the verbose answer says so.
func TestAStoreThatRefusesChangesIsReady(t *testing.T) {
	var written bytes.Buffer
	m := health.New(slog.New(slog.NewTextHandler(&written, nil)), time.Minute)
	m.Runs(health.Dependency{Name: "redis", Needed: true, Ping: func(context.Context) error { return refusal("OOM command not allowed") }})
	want(t, m, "/readyz", 200, "ok")
	want(t, m, "/readyz?verbose", 200,
		`{"ready":true,"redis":{"state":"read-only","reason":"reads work and changes do not: its memory is full"},"service":{"state":"running"}}`)
	if written.Len() > 0 {
		t.Errorf("the log is %s, want nothing", written.String())
	}
}

// A store that does not answer delays the answer only by the patience with it, and not at all once the service stops.
func TestASilentStoreDelaysTheAnswerBriefly(t *testing.T) {
	asked := 0
	silent := func(ctx context.Context) error { asked++; <-ctx.Done(); return ctx.Err() }
	m := health.New(slog.New(slog.DiscardHandler), time.Millisecond)
	m.Runs(health.Dependency{Name: "redis", Needed: true, Ping: silent})
	want(t, m, "/readyz", 503, "not ready: redis: it does not answer in time")
	m.Stops()
	want(t, m, "/readyz", 503, "not ready: the service is stopping")
	if asked != 1 {
		t.Errorf("the store was asked %d times, want once", asked)
	}
}

func TestAnOutageIsLoggedAtItsStartAndEnd(t *testing.T) {
	var written bytes.Buffer
	var redis store
	m := health.New(slog.New(slog.NewTextHandler(&written, nil)), time.Minute)
	m.Runs(health.Dependency{Name: "redis", Needed: true, Ping: redis.ping})
	for _, err := range []error{nil, errors.New("gone"), errors.New("gone"), nil, nil} {
		redis.away(err)
		get(t, m, "/readyz")
	}
	if text := written.String(); strings.Count(text, "\n") != 2 ||
		strings.Count(text, "store=redis error=gone") != 1 || strings.Count(text, `"a store responds again" store=redis`) != 1 {
		t.Errorf("the log is\n%s\nwant one line for the outage and one for its end", text)
	}
}

// A caller who leaves before the answer says nothing about the store.
func TestACallerWhoLeavesIsNoOutage(t *testing.T) {
	var written bytes.Buffer
	m := health.New(slog.New(slog.NewTextHandler(&written, nil)), time.Minute)
	m.Runs(health.Dependency{Name: "redis", Needed: true, Ping: func(ctx context.Context) error { return ctx.Err() }})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m.Ready(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz?verbose", nil)); written.Len() > 0 {
		t.Errorf("the log is %s, want nothing", written.String())
	}
}

func TestLivezIsAlwaysOK(t *testing.T) {
	answer := httptest.NewRecorder()
	health.Live(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/livez", nil))
	if answer.Code != 200 || answer.Body.String() != "ok\n" {
		t.Errorf("/livez is %d %s, want 200 ok", answer.Code, answer.Body)
	}
}

func TestDialableReplacesAllAddressesByLoopback(t *testing.T) {
	for listen, want := range map[string]string{
		":9464": "127.0.0.1:9464", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "[::1]:1", "10.0.0.1:1": "10.0.0.1:1", "localhost:1": "localhost:1",
	} {
		if got, err := health.Dialable(listen); got != want || err != nil {
			t.Errorf("%s is dialed at %s (%v), want %s", listen, got, err, want)
		}
	}
}
