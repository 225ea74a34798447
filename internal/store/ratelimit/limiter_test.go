package ratelimit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/store/ratelimit"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

var noon = time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.UTC)

// clock is the time of an in-process Redis, which stands still until it is moved.
type clock struct {
	server *miniredis.Miniredis
	now    time.Time
}

func (c *clock) advance(d time.Duration) {
	c.now = c.now.Add(d)
	c.server.SetTime(c.now)
	c.server.FastForward(d)
}

func connect(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries = -1
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func frozen(t *testing.T) (*ratelimit.Limiter, *clock) {
	t.Helper()
	server := miniredis.RunT(t)
	c := &clock{server: server, now: noon}
	server.SetTime(noon)
	return ratelimit.New(connect(t, "redis://"+server.Addr())), c
}

func charge(t *testing.T, l *ratelimit.Limiter, budgets ...ratelimit.Budget) ratelimit.Decision {
	t.Helper()
	d, err := l.Charge(t.Context(), budgets...)
	if err != nil {
		t.Fatalf("charge: %v", err)
	}
	return d
}

func perKey(limit int) ratelimit.Budget {
	return ratelimit.Budget{Scope: ratelimit.ScopeKey, Name: "abcdefghijkl", Owner: "100000000000000001", PerMinute: limit}
}

func perOwner(limit int) ratelimit.Budget {
	return ratelimit.Budget{Scope: ratelimit.ScopeIdentity, Name: "100000000000000001", PerMinute: limit}
}

// near allows for the resolution of a bucket.
func near(got, want time.Duration) bool {
	return (got - want).Abs() < 50*time.Microsecond
}

func TestExactlyTheLimitIsAllowedAndTheNumbersCountDown(t *testing.T) {
	l, clock := frozen(t)
	for n := 1; n <= 120; n++ {
		d := charge(t, l, perKey(120), perOwner(1500))
		want := ratelimit.Decision{Allowed: true, Scope: "key", Limit: 120, Remaining: 120 - n, Reset: d.Reset}
		if d != want || !near(d.Reset, time.Duration(n)*time.Second/2) {
			t.Fatalf("request %d: %+v, want %+v", n, d, want)
		}
	}
	d := charge(t, l, perKey(120), perOwner(1500))
	if d.Allowed || d.Scope != "key" || d.Limit != 120 || d.Remaining != 0 || !near(d.RetryAfter, time.Second/2) || !near(d.Reset, time.Minute) {
		t.Fatalf("request 121: %+v", d)
	}
	clock.advance(d.RetryAfter + time.Microsecond)
	if d := charge(t, l, perKey(120), perOwner(1500)); !d.Allowed || d.Remaining != 0 {
		t.Fatalf("after Retry-After: %+v", d)
	}
	if d := charge(t, l, perKey(120), perOwner(1500)); d.Allowed {
		t.Fatalf("a second one after Retry-After: %+v", d)
	}
	clock.advance(time.Minute)
	if d := charge(t, l, perKey(120), perOwner(1500)); d.Remaining != 119 {
		t.Fatalf("a minute later: %+v", d)
	}
}

func TestPeekShowsTheNextDecisionAndChargesNothing(t *testing.T) {
	l, clock := frozen(t)
	peek := func() ratelimit.Decision {
		t.Helper()
		d, err := l.Peek(t.Context(), perOwner(2))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for range 3 {
		if d := peek(); !d.Allowed {
			t.Fatalf("nothing was charged: %+v", d)
		}
	}
	charge(t, l, perOwner(2))
	charge(t, l, perOwner(2))
	if d := peek(); d.Allowed || d.Scope != "identity" || d.Limit != 2 || !near(d.RetryAfter, 30*time.Second) || !near(d.Reset, time.Minute) {
		t.Errorf("all is charged: %+v", d)
	}
	clock.advance(30*time.Second + time.Microsecond)
	if d := peek(); !d.Allowed {
		t.Errorf("one is refilled: %+v", d)
	}
	clock.server.Close()
	if d, err := l.Peek(t.Context(), perOwner(2)); err == nil {
		t.Errorf("without Redis: %+v", d)
	}
}

func TestTheFirstRequestLeavesOneLessThanTheLimit(t *testing.T) {
	l, clock := frozen(t)
	for _, limit := range []int{1, 2, 3, 7, 59, 60, 120, 999, 1500, 123457, 1000000} {
		for range 20 {
			clock.advance(time.Minute + time.Duration(rand.IntN(1e9))) // the float's error depends on the time
			if d := charge(t, l, perKey(limit)); !d.Allowed || d.Remaining != limit-1 {
				t.Fatalf("limit %d at %v: %+v", limit, clock.now, d)
			}
		}
	}
}

func TestZeroIsNoLimit(t *testing.T) {
	l, clock := frozen(t)
	unlimited := ratelimit.Decision{Allowed: true, Limit: 2147483647, Remaining: 2147483647}
	for range 300 {
		if d := charge(t, l, perKey(0), perOwner(0)); d != unlimited {
			t.Fatalf("without limits: %+v", d)
		}
	}
	if d := charge(t, l); d != unlimited {
		t.Fatalf("without budgets: %+v", d)
	}
	if keys := clock.server.Keys(); len(keys) != 0 {
		t.Fatalf("wrote %v for budgets without limits", keys)
	}
	if d := charge(t, l, perKey(0), perOwner(1500)); d.Scope != "identity" || d.Limit != 1500 || d.Remaining != 1499 {
		t.Fatalf("with the owner's limit alone: %+v", d)
	}
	if d := charge(t, l, perKey(3), perOwner(0)); d.Scope != "key" || d.Remaining != 2 {
		t.Fatalf("with the key's limit alone: %+v", d)
	}
}

func TestALimitCanChangeAtAnyTime(t *testing.T) {
	l, clock := frozen(t)
	for range 50 {
		charge(t, l, perKey(100)) // half of the minute is used
	}
	for _, c := range []struct{ limit, remaining int }{{10, 4}, {1000, 399}, {2, 0}} {
		d := charge(t, l, perKey(c.limit))
		if d.Limit != c.limit || d.Remaining < 0 || d.Remaining > c.remaining {
			t.Fatalf("limit %d: %+v, want at most %d left", c.limit, d, c.remaining)
		}
	}
	if d := charge(t, l, perKey(1)); d.Allowed || d.Reset > time.Minute+time.Millisecond {
		t.Fatalf("lowered to 1: %+v", d)
	}
	clock.advance(time.Minute)
	if d := charge(t, l, perKey(1)); !d.Allowed {
		t.Fatalf("a minute later: %+v", d)
	}
}

func TestScopesAndNamesHaveBudgetsOfTheirOwn(t *testing.T) {
	l, _ := frozen(t)
	for _, scope := range []string{ratelimit.ScopeKey, ratelimit.ScopeIdentity, ratelimit.ScopeAddress, ratelimit.ScopeSignIn, ratelimit.ScopeAdmin} {
		for _, name := range []string{"100000000000000001", "100000000000000002"} {
			b := ratelimit.Budget{Scope: scope, Name: name, PerMinute: 3}
			if d := charge(t, l, b); d.Remaining != 2 || d.Scope != scope {
				t.Fatalf("%s %s: %+v", scope, name, d)
			}
		}
	}
}

func TestManyClientsNeverGetMoreThanTheLimit(t *testing.T) {
	server := testenv.Redis(t)
	limiter := ratelimit.New(connect(t, server.URL()))
	const burst = 40
	var allowed, refused atomic.Int64
	var clients sync.WaitGroup
	began := time.Now()
	for client := range 20 {
		clients.Go(func() {
			key := ratelimit.Budget{Scope: ratelimit.ScopeKey, Name: string(rune('a' + client%4)), PerMinute: 25}
			for range 20 {
				d, err := limiter.Charge(context.Background(), key, perOwner(burst))
				switch {
				case err != nil:
					t.Errorf("charge: %v", err)
				case d.Allowed:
					allowed.Add(1)
				default:
					refused.Add(1)
				}
			}
		})
	}
	clients.Wait()
	// What was refilled meanwhile may be allowed too, however slow the machine is.
	most := burst + int64(math.Ceil(time.Since(began).Seconds()*burst/60))
	if allowed.Load() < burst || allowed.Load() > most || allowed.Load()+refused.Load() != 400 {
		t.Fatalf("%d allowed and %d refused, want %d to %d allowed", allowed.Load(), refused.Load(), burst, most)
	}
}

func TestOnARealServer(t *testing.T) {
	server := testenv.Redis(t)
	client := connect(t, server.URL())
	l := ratelimit.New(client)
	// Five a minute is one in 12 seconds: no machine is so slow that one is refilled on the way.
	last := ratelimit.Decision{Remaining: 5}
	for n := 1; n <= 5; n++ {
		d := charge(t, l, perKey(60), perOwner(5))
		if !d.Allowed || d.Scope != "identity" || d.Remaining != last.Remaining-1 || d.Reset <= last.Reset {
			t.Fatalf("request %d: %+v after %+v", n, d, last)
		}
		last = d
	}
	before, err := client.Get(t.Context(), "rate:lb:k:{100000000000000001}:abcdefghijkl").Float64()
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		d := charge(t, l, perKey(60), perOwner(5))
		if d.Allowed || d.Remaining != 0 || d.RetryAfter <= 0 || d.RetryAfter > 12*time.Second || d.Reset > time.Minute {
			t.Fatalf("over the limit: %+v", d)
		}
	}
	after, err := client.Get(t.Context(), "rate:lb:k:{100000000000000001}:abcdefghijkl").Float64()
	if err != nil || math.Abs(after-before) > 1e-5 {
		t.Fatalf("ten refusals moved the key's bucket by %v seconds (%v)", after-before, err)
	}
	if ttl := client.TTL(t.Context(), "rate:lb:k:{100000000000000001}:abcdefghijkl").Val(); ttl <= 0 || ttl > time.Minute {
		t.Fatalf("the bucket lives for %v", ttl)
	}
}

func TestWhatIsCounted(t *testing.T) {
	l, _ := frozen(t)
	address := ratelimit.Budget{Scope: ratelimit.ScopeAddress, Name: "192.0.2.1", PerMinute: 1}
	charge(t, l, address)
	charge(t, l, address)
	charge(t, l, perKey(5), perOwner(0))
	charge(t, l, perKey(5), perOwner(1))
	charge(t, l, perKey(5), perOwner(1))
	const want = `
# HELP levelboard_rate_limit_requests_total Requests by the scope of a budget and its outcome; a limited request is counted for the budget that refused it only.
# TYPE levelboard_rate_limit_requests_total counter
levelboard_rate_limit_requests_total{outcome="allowed",scope="address"} 1
levelboard_rate_limit_requests_total{outcome="allowed",scope="admin"} 0
levelboard_rate_limit_requests_total{outcome="limited",scope="admin"} 0
levelboard_rate_limit_requests_total{outcome="limited",scope="address"} 1
levelboard_rate_limit_requests_total{outcome="allowed",scope="identity"} 1
levelboard_rate_limit_requests_total{outcome="limited",scope="identity"} 1
levelboard_rate_limit_requests_total{outcome="allowed",scope="key"} 2
levelboard_rate_limit_requests_total{outcome="allowed",scope="sign_in"} 0
levelboard_rate_limit_requests_total{outcome="limited",scope="key"} 0
levelboard_rate_limit_requests_total{outcome="limited",scope="sign_in"} 0
`
	if err := testutil.CollectAndCompare(l, strings.NewReader(want), "levelboard_rate_limit_requests_total"); err != nil {
		t.Fatal(err)
	}
}
