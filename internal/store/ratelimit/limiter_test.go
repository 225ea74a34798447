package ratelimit_test

import (
	"context"
	"errors"
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

func TestARefusalIsChargedToNeither(t *testing.T) {
	for name, c := range map[string]struct {
		key, owner ratelimit.Budget
		refuses    string
	}{
		"the key's budget refuses":   {perKey(5), perOwner(60), "key"},
		"the owner's budget refuses": {perKey(60), perOwner(5), "identity"},
	} {
		for _, order := range []string{"key first", "owner first"} {
			t.Run(name+", "+order, func(t *testing.T) {
				l, clock := frozen(t)
				budgets := []ratelimit.Budget{c.key, c.owner}
				if order == "owner first" {
					budgets = []ratelimit.Budget{c.owner, c.key}
				}
				for range 5 {
					charge(t, l, budgets...)
				}
				for range 100 {
					if d := charge(t, l, budgets...); d.Allowed || d.Scope != c.refuses || d.Limit != 5 || d.Remaining != 0 {
						t.Fatalf("a request over the limit: %+v", d)
					}
				}
				// Alone, each shows what the five requests left, less the one that asks now.
				if d := charge(t, l, perKey(60)); c.refuses == "identity" && d.Remaining != 54 {
					t.Fatalf("the key has %d of 60 left, want 54", d.Remaining)
				}
				if d := charge(t, l, perOwner(60)); c.refuses == "key" && d.Remaining != 54 {
					t.Fatalf("the owner has %d of 60 left, want 54", d.Remaining)
				}
				clock.advance(time.Minute)
				if d := charge(t, l, budgets...); !d.Allowed || d.Remaining != 4 {
					t.Fatalf("a minute later: %+v", d)
				}
			})
		}
	}
}

// A bucket that is full again by the time of the refund has no time left to subtract from.
func TestARefundIntoAFullBucketLeavesItFull(t *testing.T) {
	l, clock := frozen(t)
	charge(t, l, perOwner(1))
	for range 3 {
		if d := charge(t, l, perKey(10), perOwner(1)); d.Allowed {
			t.Fatalf("over the owner's limit: %+v", d)
		}
	}
	if d := charge(t, l, perKey(10)); d.Remaining != 9 || !near(d.Reset, 6*time.Second) {
		t.Fatalf("the key after its refunds: %+v", d)
	}
	if keys := clock.server.Keys(); len(keys) != 2 || keys[0] != "rate:lb:i:{100000000000000001}" || keys[1] != "rate:lb:k:{100000000000000001}:abcdefghijkl" {
		t.Fatalf("keys in Redis: %v", keys)
	}
}

func TestRefundsKeepWhatOthersCharged(t *testing.T) {
	l, _ := frozen(t)
	charge(t, l, perOwner(1))
	for n := 1; n <= 4; n++ {
		charge(t, l, perKey(10))
		charge(t, l, perKey(10), perOwner(1)) // refused and refunded
	}
	if d := charge(t, l, perKey(10)); d.Remaining != 5 {
		t.Fatalf("the key has %d left after 5 of 10, want 5", d.Remaining)
	}
}

// When neither budget has room, to retry before both have is in vain.
func TestRetryAfterIsTheLongerWait(t *testing.T) {
	l, clock := frozen(t)
	other := perKey(600)
	other.Name = "mnopqrstuvwx"
	charge(t, l, perKey(2), perOwner(5))
	charge(t, l, perKey(2), perOwner(5))
	clock.advance(29 * time.Second)
	for charge(t, l, other, perOwner(5)).Allowed {
	}
	d := charge(t, l, perKey(2), perOwner(5))
	if d.Allowed || d.Scope != "identity" || d.Limit != 5 || d.RetryAfter < 5*time.Second {
		t.Fatalf("with both budgets spent: %+v, want the owner's wait, the key's is a second", d)
	}
	clock.advance(d.RetryAfter + time.Microsecond)
	if d := charge(t, l, perKey(2), perOwner(5)); !d.Allowed {
		t.Fatalf("after Retry-After: %+v", d)
	}
}

func TestTheBudgetWithLessRemainingIsShown(t *testing.T) {
	l, _ := frozen(t)
	other := perKey(120)
	other.Name = "mnopqrstuvwx"
	if d := charge(t, l, perKey(120), perOwner(122)); d.Scope != "key" || d.Remaining != 119 {
		t.Fatalf("first: %+v", d)
	}
	for range 5 {
		charge(t, l, other, perOwner(122))
	}
	if d := charge(t, l, perKey(120), perOwner(122)); d.Scope != "identity" || d.Limit != 122 || d.Remaining != 115 {
		t.Fatalf("when the owner used another key: %+v", d)
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

// One request of such a limit takes less than the time of a bucket can tell.
func TestTheHighestLimitBesideALowOne(t *testing.T) {
	l, clock := frozen(t)
	for n := range 3 {
		clock.advance(time.Duration(rand.IntN(1e9))) // the float's error depends on the time
		if d := charge(t, l, perKey(3), perOwner(math.MaxInt32)); !d.Allowed || d.Scope != "key" || d.Remaining != 2-n {
			t.Fatalf("request %d: %+v", n, d)
		}
	}
	if d := charge(t, l, perKey(3), perOwner(math.MaxInt32)); d.Allowed {
		t.Fatalf("request 4 of 3: %+v", d)
	}
	for range 1000 {
		clock.advance(time.Duration(rand.IntN(1e6)))
		if d := charge(t, l, perKey(math.MaxInt32), perOwner(math.MaxInt32)); !d.Allowed || d.Limit != math.MaxInt32 {
			t.Fatalf("the highest limits: %+v", d)
		}
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

func TestRedisGoneIsAnErrorAndItsReturnIsNoticed(t *testing.T) {
	server := testenv.Redis(t)
	l := ratelimit.New(connect(t, server.URL()))
	charge(t, l, perKey(5))
	server.Kill()
	d, err := l.Charge(t.Context(), perKey(5))
	if err == nil || d.Allowed || !strings.Contains(err.Error(), "budget of scope key") || errors.Unwrap(err) == nil {
		t.Fatalf("with Redis dead: %+v, %v", d, err)
	}
	server.Start()
	if d := charge(t, l, perKey(5)); d.Remaining != 4 {
		t.Fatalf("on the new, empty Redis, which has no scripts either: %+v", d)
	}
}

// leaver cancels its caller's context once Redis has answered for a budget's key.
type leaver struct {
	key   string
	leave context.CancelFunc
}

func (l leaver) DialHook(next redis.DialHook) redis.DialHook { return next }

func (l leaver) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (l leaver) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if args := cmd.Args(); len(args) > 3 && args[3] == l.key && err == nil {
			l.leave()
		}
		return err
	}
}

func TestACallerWhoLeftIsNotChargedForARefusal(t *testing.T) {
	server := miniredis.RunT(t)
	server.SetTime(noon)
	client := connect(t, "redis://"+server.Addr())
	l := ratelimit.New(client)
	charge(t, l, perOwner(1))
	ctx, leave := context.WithCancel(t.Context())
	client.AddHook(leaver{key: "rate:lb:k:{100000000000000001}:abcdefghijkl", leave: leave})
	if d, err := l.Charge(ctx, perKey(10), perOwner(1)); d.Allowed || ctx.Err() == nil {
		t.Fatalf("got %+v, %v; the caller has left: %v", d, err, ctx.Err())
	}
	if d := charge(t, l, perKey(10)); d.Remaining != 9 {
		t.Fatalf("the key has %d left, want 9", d.Remaining)
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
