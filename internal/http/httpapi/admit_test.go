package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/store/ratelimit"
)

// slowLimiter charges when the test lets it.
type slowLimiter struct {
	charging chan struct{}
	done     chan struct{}
}

func (l slowLimiter) Peek(context.Context, ratelimit.Budget) (ratelimit.Decision, error) {
	return ratelimit.Decision{Allowed: true}, nil
}

func (l slowLimiter) Charge(context.Context, ...ratelimit.Budget) (ratelimit.Decision, error) {
	l.charging <- struct{}{}
	<-l.done
	return ratelimit.Decision{Allowed: true, Limit: 9, Remaining: 8, Reset: time.Second}, nil
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	l := slowLimiter{charging: make(chan struct{}), done: make(chan struct{})}
	api, err := New(Deps{
		Limiter: l, inFlight: 4, IdentityLimit: 1500, CORSOrigins: []string{"*"},
		OpenAPI: []byte("{}"), Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	from := func(address, path string) *http.Response {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = address + ":1234"
		r.Header.Set("Origin", "https://example.test")
		api.ServeHTTP(w, r)
		return w.Result()
	}
	ask := func(path string) *http.Response { return from("192.0.2.9", path) }
	var running sync.WaitGroup
	for n := range 4 {
		running.Go(func() {
			if got := from(fmt.Sprint("192.0.2.", n), "/v2/openapi.json"); got.StatusCode != 200 {
				t.Errorf("a request within the bound is %d, want 200", got.StatusCode)
			}
		})
		<-l.charging
		if n > 0 {
			continue
		}
		if got := from("192.0.2.0", "/v2/openapi.json"); got.StatusCode != 429 || got.Header.Get("Retry-After") != "1" || got.Header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("a request beyond its address's share is %d %v, want 429 with Retry-After 1", got.StatusCode, got.Header)
		}
	}

	for _, path := range []string{"/v2/openapi.json", "/v2", "/v2/nothing", "/v2/levels/gophers?page=1"} {
		got := ask(path)
		var body struct{ Message string }
		if err := json.NewDecoder(got.Body).Decode(&body); err != nil || got.StatusCode != 503 || body.Message == "" {
			t.Errorf("%s beyond the bound is %d %q (%v), want 503 with a message", path, got.StatusCode, body.Message, err)
		}
		for name, want := range map[string]string{
			"Retry-After": "1", "X-RateLimit-Limit": "1500", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1",
			"Access-Control-Allow-Origin": "*", "Content-Type": "application/json", "Cache-Control": "private, no-store",
		} {
			if is := got.Header.Get(name); is != want {
				t.Errorf("%s: %s is %q, want %q", path, name, is, want)
			}
		}
	}
	if got := ask("/admin/guilds"); got.StatusCode != 404 {
		t.Errorf("/admin, which is off and not bounded, is %d, want 404", got.StatusCode)
	}

	close(l.done)
	running.Wait()
	go func() { <-l.charging }()
	if got := ask("/v2/openapi.json"); got.StatusCode != 200 || got.Header.Get("X-RateLimit-Remaining") != "8" {
		t.Errorf("a later request is %d with %v, want 200 with 8 left", got.StatusCode, got.Header)
	}
}

// madeUpKeys has one key in the cache. For all others the archive does not answer.
type madeUpKeys struct{ asked chan struct{} }

func (k madeUpKeys) InMemory(presented string) bool { return presented == "known" }

func (k madeUpKeys) Authenticate(ctx context.Context, presented string) (*apikey.Key, error) {
	if k.InMemory(presented) {
		return &writer, nil
	}
	k.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (k madeUpKeys) Recheck(ctx context.Context, presented string) (*apikey.Key, error) {
	return k.Authenticate(ctx, presented)
}

func TestMadeUpKeysDoNotBlockKnownKeys(t *testing.T) {
	keys := madeUpKeys{asked: make(chan struct{})}
	api, err := New(Deps{
		Keys: keys, Limiter: &instant{}, OpenAPI: []byte("{}"), Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	status := func(address, key string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v2/openapi.json", nil)
		r.RemoteAddr = address + ":1234"
		r.Header.Set(keyHeader, key)
		api.ServeHTTP(w, r)
		return w.Code
	}
	var looking sync.WaitGroup
	defer looking.Wait()
	defer end()
	for range lookupsOfAddress {
		looking.Go(func() { status("192.0.2.1", "made up") })
		<-keys.asked
	}
	if got := status("192.0.2.1", "made up"); got != 429 {
		t.Errorf("one more unknown key of the address is %d, want 429", got)
	}
	if got := status("192.0.2.1", "known"); got != 200 {
		t.Errorf("a known key is %d, want 200", got)
	}
	looking.Go(func() { status("192.0.2.2", "made up") })
	<-keys.asked // another address's key is looked up
}
