package ratelimit_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/ratelimit"
)

const (
	largeLimit = 60_000
	largeLease = largeLimit / 1200
)

// another is a limiter of another replica on the same Redis.
func another(t *testing.T, c *clock) *ratelimit.Limiter {
	t.Helper()
	l := ratelimit.New(connect(t, "redis://"+c.server.Addr()))
	l.SetClock(func() time.Time { return c.now })
	return l
}

// charged is how many requests the owner's bucket in Redis counts at this moment.
func charged(t *testing.T, c *clock, limit int) int {
	t.Helper()
	text, err := c.server.Get("rate:lb:i:{100000000000000001}")
	if err != nil {
		t.Fatal(err)
	}
	full, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	now := float64(c.now.UnixMicro())/1e6 - 1483228800
	return int(math.Round((full - now) / 60 * float64(limit)))
}

// allowedOf lets clients charge at the same time and counts what was allowed.
func allowedOf(t *testing.T, clients, each int, limiters []*ratelimit.Limiter, budgets ...ratelimit.Budget) int {
	t.Helper()
	var allowed atomic.Int64
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for range each {
				d, err := limiters[i%len(limiters)].Charge(t.Context(), budgets...)
				if err != nil {
					t.Errorf("charge: %v", err)
				}
				if d.Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	all.Wait()
	return int(allowed.Load())
}

// What is charged in advance is used: no more than one lease is charged beyond what was allowed, however many wait for it.
func TestALeaseIsUsedBeforeTheNext(t *testing.T) {
	l, clock := frozen(t)
	allowed := allowedOf(t, 64, 100, []*ratelimit.Limiter{l}, perOwner(largeLimit))
	if ahead := charged(t, clock, largeLimit) - allowed; allowed != 6400 || ahead < 0 || ahead > largeLease {
		t.Errorf("%d of 6400 allowed, and %d charged beyond them, want at most %d", allowed, ahead, largeLease)
	}
}

func TestBudgetsAreExactAtOneMomentOverAllReplicas(t *testing.T) {
	for _, limit := range []int{1, 7, 40, 120, 30_000} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			l, clock := frozen(t)
			all := []*ratelimit.Limiter{l, another(t, clock), another(t, clock)}
			allowed := allowedOf(t, 48, limit/48+20, all, perKey(2*limit), perOwner(limit))
			unused := limit - allowed // of thousands of charges at one moment, the rounding of their sum can refuse one
			if most := len(all) * (limit / 1200); limit < 30_000 && unused != 0 || unused < 0 || unused > most+1 {
				t.Errorf("%d allowed of %d", allowed, limit)
			}
		})
	}
}

// A lease may be used up to a second after it was charged, so that much more than a bucket gives fits into a span of time.
func TestTheBoundOfLeasesOfThreeReplicas(t *testing.T) {
	const replicas, span = 3, 10 * time.Second
	l, clock := frozen(t)
	all := []*ratelimit.Limiter{l, another(t, clock), another(t, clock)}
	for _, l := range all {
		charge(t, l, perOwner(largeLimit))
		charge(t, l, perOwner(largeLimit)) // takes a lease
	}
	if ahead := charged(t, clock, largeLimit) - 2*replicas; ahead != replicas*largeLease {
		t.Fatalf("%d requests are leased, want %d", ahead, replicas*largeLease)
	}
	clock.advance(900 * time.Millisecond) // the bucket is full again, and the leases still good
	allowed := 0
	for passed := time.Duration(0); ; passed += span / 20 {
		for _, l := range all {
			for charge(t, l, perOwner(largeLimit)).Allowed {
				allowed++
			}
		}
		if passed == span {
			break
		}
		clock.advance(span / 20)
	}
	bucket := largeLimit + int(span*largeLimit/time.Minute)
	if allowed > bucket+replicas*largeLease || allowed <= bucket {
		t.Errorf("%d allowed in %v, want more than the %d of the bucket, and at most %d more", allowed, span, bucket, replicas*largeLease)
	}
}

// held stops the first command until it is let go.
type held struct {
	commands atomic.Int64
	let      chan struct{}
}

func (h *held) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *held) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h *held) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" && h.commands.Add(1) == 1 {
			<-h.let
		}
		return next(ctx, cmd)
	}
}

func TestRequestsOfTheSameBudgetsShareARoundTrip(t *testing.T) {
	const requests, limit = 101, 120
	l, clock := frozen(t)
	charge(t, l, perKey(1000), perOwner(1000)) // Redis knows the scripts
	charge(t, l, perOwner(1000))
	clock.advance(time.Minute)
	client := connect(t, "redis://"+clock.server.Addr())
	hook := &held{let: make(chan struct{})}
	client.AddHook(hook)
	l = ratelimit.New(client)
	l.SetClock(func() time.Time { return clock.now })

	var mu sync.Mutex
	var remaining []int
	var all sync.WaitGroup
	request := func() {
		d, err := l.Charge(t.Context(), perKey(limit), perOwner(1500))
		if err != nil || !d.Allowed || d.Limit != limit {
			t.Errorf("%+v, %v", d, err)
		}
		mu.Lock()
		defer mu.Unlock()
		remaining = append(remaining, d.Remaining)
	}
	all.Go(request)
	for hook.commands.Load() == 0 {
		runtime.Gosched()
	}
	for range requests - 1 {
		all.Go(request)
	}
	for l.Waiting() < requests-1 {
		runtime.Gosched()
	}
	// Who leaves meanwhile is not waited for.
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if d, err := l.Charge(ctx, perKey(limit), perOwner(1500)); err == nil {
		t.Errorf("who left got %+v", d)
	}
	close(hook.let)
	all.Wait()
	if n := hook.commands.Load(); n != 2 {
		t.Errorf("%d commands for %d requests, want 2", n, requests)
	}
	slices.Sort(remaining)
	for i, left := range remaining {
		// Who left was the last, and may have been charged.
		if left != limit-requests+i {
			t.Fatalf("the requests were told %v", remaining)
		}
	}
}

// Of those that wait, the first are allowed.
func TestWhoWaitsLongestIsAllowed(t *testing.T) {
	l, clock := frozen(t)
	charge(t, l, perKey(1000), perOwner(1000))
	clock.advance(time.Minute)
	client := connect(t, "redis://"+clock.server.Addr())
	hook := &held{let: make(chan struct{})}
	client.AddHook(hook)
	l = ratelimit.New(client)
	var all sync.WaitGroup
	decisions := make([]ratelimit.Decision, 8)
	for i := range decisions {
		all.Go(func() { decisions[i], _ = l.Charge(t.Context(), perKey(5), perOwner(1000)) })
		for hook.commands.Load() == 0 || l.Waiting() < i {
			runtime.Gosched()
		}
	}
	close(hook.let)
	all.Wait()
	for i, d := range decisions {
		if d.Allowed != (i < 5) || d.Remaining != max(4-i, 0) || d.Allowed != (d.RetryAfter == 0) {
			t.Errorf("request %d: %+v", i, d)
		}
	}
}

func TestTillsAreDroppedAgain(t *testing.T) {
	l, clock := frozen(t)
	address := func(n, limit int) ratelimit.Budget {
		return ratelimit.Budget{Scope: ratelimit.ScopeAddress, Name: strconv.Itoa(n), PerMinute: limit}
	}
	for n := range 500 {
		charge(t, l, address(n, 60))
	}
	for deadline := time.Now().Add(10 * time.Second); l.Tills() > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d tills of small budgets are kept", l.Tills())
		}
	}
	for n := range 500 {
		charge(t, l, address(n, largeLimit))
	}
	for deadline := time.Now().Add(10 * time.Second); l.Asking() > 0; runtime.Gosched() { // those are not dropped
		if time.Now().After(deadline) {
			t.Fatalf("Redis is asked for %d tills for ever", l.Asking())
		}
	}
	clock.advance(11 * time.Second)
	charge(t, l, address(500, largeLimit))
	if n := l.Tills(); n != 1 {
		t.Errorf("%d tills are kept, want the one in use", n)
	}
}

func TestALeaseOutlastsRedisByASecondAtMost(t *testing.T) {
	l, clock := frozen(t)
	charge(t, l, perOwner(largeLimit))
	last := charge(t, l, perOwner(largeLimit)).Remaining
	clock.server.Close()
	for n := range largeLease {
		if n == largeLease/2 {
			clock.now = clock.now.Add(900 * time.Millisecond) // all that was charged is refilled
		}
		d := charge(t, l, perOwner(largeLimit))
		if !d.Allowed || n < largeLease/2 && d.Remaining != last-1 {
			t.Fatalf("request %d of the lease: %+v after %d", n, d, last)
		}
		last = d.Remaining
	}
	if d, err := l.Charge(t.Context(), perOwner(largeLimit)); err == nil {
		t.Errorf("beyond the lease: %+v", d)
	}
}

func TestALeaseEnds(t *testing.T) {
	l, clock := frozen(t)
	charge(t, l, perOwner(largeLimit))
	charge(t, l, perOwner(largeLimit))
	clock.server.Close()
	clock.now = clock.now.Add(1001 * time.Millisecond)
	if d, err := l.Charge(t.Context(), perOwner(largeLimit)); err == nil {
		t.Errorf("by a lease that has ended: %+v", d)
	}
}
