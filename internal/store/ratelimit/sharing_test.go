package ratelimit_test

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/store/ratelimit"
	"levelboard/internal/testing/testenv"
)

// another returns a limiter on the same Redis, as on another replica.
func another(t *testing.T, c *clock) *ratelimit.Limiter {
	t.Helper()
	return ratelimit.New(connect(t, "redis://"+c.server.Addr()))
}

// allowedOf lets clients charge at the same time and returns how many requests were allowed.
func allowedOf(t *testing.T, clients, each int, limiters []*ratelimit.Limiter, budgets ...ratelimit.Budget) int {
	t.Helper()
	var allowed atomic.Int64
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for range each {
				d, err := limiters[i%len(limiters)].Charge(t.Context(), budgets...)
				if err != nil {
					t.Errorf("charging: %v", err)
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

// All requests come at one moment, so the bucket is not refilled. If a shared call asks for more than a bucket has, redis_rate empties the
// bucket and rounds the grant down: at most one request fewer passes, never one more.
func TestConcurrentRequestsOnAllReplicasKeepTheLimit(t *testing.T) {
	for _, limit := range []int{1, 7, 40, 120, 3000} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			l, clock := frozen(t)
			all := []*ratelimit.Limiter{l, another(t, clock), another(t, clock)}
			allowed := allowedOf(t, 48, limit/48+20, all, perKey(2*(limit+1200)), perOwner(limit))
			if allowed > limit || allowed < limit-1 {
				t.Errorf("%d requests were allowed, want %d or one less", allowed, limit)
			}
		})
	}
}

// held blocks the first command until the test releases it.
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

// withHeld returns a limiter whose first call is held.
func withHeld(t *testing.T) (*ratelimit.Limiter, *held) {
	t.Helper()
	_, clock := frozen(t)
	client := connect(t, "redis://"+clock.server.Addr())
	hook := &held{let: make(chan struct{})}
	client.AddHook(hook)
	return ratelimit.New(client), hook
}

func TestRequestsOfOneBudgetShareACall(t *testing.T) {
	const requests, limit = 101, 120
	l, hook := withHeld(t)
	var mu sync.Mutex
	var remaining []int
	var all sync.WaitGroup
	request := func() {
		d, err := l.Charge(t.Context(), perOwner(limit))
		if err != nil || !d.Allowed || d.Limit != limit {
			t.Errorf("the decision is %+v (%v), want it allowed", d, err)
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
	// A caller who leaves does not wait for the call.
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if d, err := l.Charge(ctx, perOwner(limit)); err == nil {
		t.Errorf("a caller who left got %+v, want an error", d)
	}
	close(hook.let)
	all.Wait()
	if n := hook.commands.Load(); n != 2 {
		t.Errorf("%d commands for %d requests, want 2", n, requests)
	}
	slices.Sort(remaining)
	for i, left := range remaining {
		// The caller who left came last, and was charged.
		if left != limit-requests+i {
			t.Fatalf("the requests show %v left, want a countdown", remaining)
		}
	}
}

func TestRequestsThatWaitLongestAreAllowed(t *testing.T) {
	for waiting, limit := range map[int]int{8: 5, 20: 3} { // more wait than the limit has
		l, hook := withHeld(t)
		var all sync.WaitGroup
		decisions := make([]ratelimit.Decision, waiting)
		for i := range decisions {
			all.Go(func() { decisions[i], _ = l.Charge(t.Context(), perKey(limit)) })
			for hook.commands.Load() == 0 || l.Waiting() < i {
				runtime.Gosched()
			}
		}
		close(hook.let)
		all.Wait()
		for i, d := range decisions {
			if d.Allowed != (i < limit) || d.Remaining != max(limit-1-i, 0) || d.Allowed != (d.RetryAfter == 0) {
				t.Errorf("the decision on request %d is %+v, want the first %d allowed", i, d, limit)
			}
		}
	}
}

func TestUnusedBudgetsAreForgotten(t *testing.T) {
	l, _ := frozen(t)
	for n := range 500 {
		charge(t, l, ratelimit.Budget{Scope: ratelimit.ScopeAddress, Name: strconv.Itoa(n), PerMinute: 60 + 1000*n})
	}
	testenv.Wait(t, "no budget is kept", func() bool { return l.Asking() == 0 })
}
