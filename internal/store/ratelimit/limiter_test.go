package ratelimit_test

import (
	"math"
	"math/rand/v2"
	"strings"
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

// clock is the time of an in-process Redis. It only moves when a test advances it.
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
		t.Fatalf("charging: %v", err)
	}
	return d
}

func perKey(limit int) ratelimit.Budget {
	return ratelimit.Budget{Scope: ratelimit.ScopeKey, Name: "abcdefghijkl", PerMinute: limit}
}

func perOwner(limit int) ratelimit.Budget {
	return ratelimit.Budget{Scope: ratelimit.ScopeIdentity, Name: "100000000000000001", PerMinute: limit}
}

// near allows for the resolution of a bucket.
func near(got, want time.Duration) bool {
	return (got - want).Abs() < 50*time.Microsecond
}

// If a later budget rejects a request, the earlier budgets stay charged.
func TestTheKeyIsChargedBeforeTheIdentity(t *testing.T) {
	l, clock := frozen(t)
	for range 3 {
		charge(t, l, perKey(60), perOwner(3))
	}
	if d := charge(t, l, perKey(60), perOwner(3)); d.Allowed || d.Scope != "identity" || d.Limit != 3 || d.Remaining != 0 || !near(d.RetryAfter, 20*time.Second) {
		t.Errorf("with the identity's budget used up the decision is %+v, want a refusal for 20 s", d)
	}
	if d := charge(t, l, perKey(60)); d.Remaining != 55 {
		t.Errorf("after 5 requests the key has %d left, want 55", d.Remaining)
	}
	clock.advance(time.Minute)
	charge(t, l, perKey(1), perOwner(60))
	for range 9 {
		if d := charge(t, l, perKey(1), perOwner(60)); d.Allowed || d.Scope != "key" || d.Limit != 1 {
			t.Errorf("with the key's budget used up the decision is %+v, want a refusal by the key's", d)
		}
	}
	if d := charge(t, l, perOwner(60)); d.Remaining != 58 {
		t.Errorf("after 2 requests the identity has %d left, want 58", d.Remaining)
	}
}

func TestTheBudgetWithLessRemainingIsShown(t *testing.T) {
	l, _ := frozen(t)
	other := perKey(120)
	other.Name = "mnopqrstuvwx"
	if d := charge(t, l, perKey(120), perOwner(122)); d.Scope != "key" || d.Remaining != 119 {
		t.Fatalf("the first decision is %+v, want the key's 119 left", d)
	}
	for range 5 {
		charge(t, l, other, perOwner(122))
	}
	if d := charge(t, l, perKey(120), perOwner(122)); d.Scope != "identity" || d.Limit != 122 || d.Remaining != 115 {
		t.Fatalf("after requests with another key the decision is %+v, want the identity's 115 left", d)
	}
}

func TestExactlyTheLimitIsAllowedAndTheNumbersCountDown(t *testing.T) {
	l, clock := frozen(t)
	for n := 1; n <= 120; n++ {
		d := charge(t, l, perKey(120), perOwner(1500))
		want := ratelimit.Decision{Allowed: true, Scope: "key", Limit: 120, Remaining: 120 - n, Reset: d.Reset}
		if d != want || !near(d.Reset, time.Duration(n)*time.Second/2) {
			t.Fatalf("the decision on request %d is %+v, want %+v", n, d, want)
		}
	}
	d := charge(t, l, perKey(120), perOwner(1500))
	if d.Allowed || d.Scope != "key" || d.Limit != 120 || d.Remaining != 0 || !near(d.RetryAfter, time.Second/2) || !near(d.Reset, time.Minute) {
		t.Fatalf("the decision on request 121 is %+v, want a refusal for half a second", d)
	}
	clock.advance(d.RetryAfter + time.Microsecond)
	if d := charge(t, l, perKey(120), perOwner(1500)); !d.Allowed || d.Remaining != 0 {
		t.Fatalf("after Retry-After the decision is %+v, want it allowed", d)
	}
	if d := charge(t, l, perKey(120), perOwner(1500)); d.Allowed {
		t.Fatalf("the second request after Retry-After is allowed: %+v", d)
	}
	clock.advance(time.Minute)
	if d := charge(t, l, perKey(120), perOwner(1500)); d.Remaining != 119 {
		t.Fatalf("a minute later the decision is %+v, want 119 left", d)
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
			t.Fatalf("before any charge Peek returns %+v, want allowed", d)
		}
	}
	charge(t, l, perOwner(2))
	charge(t, l, perOwner(2))
	if d := peek(); d.Allowed || d.Scope != "identity" || d.Limit != 2 || !near(d.RetryAfter, 30*time.Second) || !near(d.Reset, time.Minute) {
		t.Errorf("with the budget used up Peek returns %+v, want a refusal for 30 s", d)
	}
	clock.advance(30*time.Second + time.Microsecond)
	if d := peek(); !d.Allowed {
		t.Errorf("after one is refilled Peek returns %+v, want allowed", d)
	}
}

func TestTheFirstRequestLeavesOneLessThanTheLimit(t *testing.T) {
	l, clock := frozen(t)
	for _, limit := range []int{1, 2, 3, 7, 59, 60, 120, 999, 1500, 123457, 1000000} {
		for range 20 {
			clock.advance(time.Minute + time.Duration(rand.IntN(1e9))) // the float's error depends on the time
			if d := charge(t, l, perKey(limit)); !d.Allowed || d.Remaining != limit-1 {
				t.Fatalf("the first decision with the limit %d at %v is %+v, want one less left", limit, clock.now, d)
			}
		}
	}
}

// One request at such a limit takes less time than a bucket's resolution.
func TestTheHighestLimitWorksBesideALowOne(t *testing.T) {
	l, clock := frozen(t)
	for n := range 3 {
		clock.advance(time.Duration(rand.IntN(1e9))) // the float's error depends on the time
		if d := charge(t, l, perKey(3), perOwner(math.MaxInt32)); !d.Allowed || d.Scope != "key" || d.Remaining != 2-n {
			t.Fatalf("the decision on request %d is %+v, want the key's %d left", n, d, 2-n)
		}
	}
	for range 1000 {
		clock.advance(time.Duration(rand.IntN(1e6)))
		if d := charge(t, l, perOwner(math.MaxInt32)); !d.Allowed || d.Limit != math.MaxInt32 {
			t.Fatalf("the decision with the highest limit is %+v, want it allowed", d)
		}
	}
}

func TestZeroIsNoLimit(t *testing.T) {
	l, clock := frozen(t)
	unlimited := ratelimit.Decision{Allowed: true, Limit: 2147483647, Remaining: 2147483647}
	for range 300 {
		if d := charge(t, l, perKey(0), perOwner(0)); d != unlimited {
			t.Fatalf("without limits the decision is %+v, want %+v", d, unlimited)
		}
	}
	if d := charge(t, l); d != unlimited {
		t.Fatalf("without budgets the decision is %+v, want %+v", d, unlimited)
	}
	if keys := clock.server.Keys(); len(keys) != 0 {
		t.Fatalf("budgets without limits wrote the keys %v", keys)
	}
	if d := charge(t, l, perKey(0), perOwner(1500)); d.Scope != "identity" || d.Limit != 1500 || d.Remaining != 1499 {
		t.Fatalf("with only the owner's limit the decision is %+v, want 1499 left", d)
	}
	if d := charge(t, l, perKey(3), perOwner(0)); d.Scope != "key" || d.Remaining != 2 {
		t.Fatalf("with only the key's limit the decision is %+v, want 2 left", d)
	}
}

func TestALimitCanChangeAtAnyTime(t *testing.T) {
	l, clock := frozen(t)
	for range 50 {
		charge(t, l, perKey(100)) // uses half of the budget
	}
	for _, c := range []struct{ limit, remaining int }{{10, 4}, {1000, 399}, {2, 0}} {
		d := charge(t, l, perKey(c.limit))
		if d.Limit != c.limit || d.Remaining < 0 || d.Remaining > c.remaining {
			t.Fatalf("with the limit %d the decision is %+v, want at most %d left", c.limit, d, c.remaining)
		}
	}
	if d := charge(t, l, perKey(1)); d.Allowed || d.Reset > time.Minute+time.Millisecond {
		t.Fatalf("with the limit lowered to 1 the decision is %+v, want a refusal", d)
	}
	clock.advance(time.Minute)
	if d := charge(t, l, perKey(1)); !d.Allowed {
		t.Fatalf("a minute later the decision is %+v, want it allowed", d)
	}
}

func TestScopesAndNamesHaveTheirOwnBudgets(t *testing.T) {
	l, _ := frozen(t)
	for _, scope := range []string{ratelimit.ScopeKey, ratelimit.ScopeIdentity, ratelimit.ScopeAddress, ratelimit.ScopeSignIn, ratelimit.ScopeAdmin} {
		for _, name := range []string{"100000000000000001", "100000000000000002"} {
			b := ratelimit.Budget{Scope: scope, Name: name, PerMinute: 3}
			if d := charge(t, l, b); d.Remaining != 2 || d.Scope != scope {
				t.Fatalf("the decision for %s %s is %+v, want 2 left", scope, name, d)
			}
		}
	}
}

func TestDecisionsAreCounted(t *testing.T) {
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
