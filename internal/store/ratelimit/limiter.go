package ratelimit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/fault"
)

const (
	period = time.Minute
	// slack is added for the rounding error of a bucket's time, a float64. Without it a new bucket may show one request too few.
	slack = 50 * time.Microsecond
)

// Limiter charges budgets. It is safe for concurrent use, and a prometheus.Collector of its decisions.
type Limiter struct {
	rate *redis_rate.Limiter
	metrics

	mu      sync.Mutex
	waiting map[Budget][]*request // requests for the next call; each entry has one call under way
}

// request is being charged to its budgets, one after the other.
type request struct {
	rest  []Budget // the budget that it waits for, and those after it
	shown Decision
	err   error
	done  chan struct{} // closed once shown or err is final
}

// Decision is the outcome of a charge, for one budget: the one that rejected, or else the one with the least remaining.
type Decision struct {
	Allowed    bool
	Scope      string // of that budget; empty when none has a limit
	Limit      int
	Remaining  int           // requests that would be allowed at once, after this one
	Reset      time.Duration // until the budget is full again
	RetryAfter time.Duration // until one request is allowed; 0 when this one was
}

// New returns a Limiter with its buckets in this Redis. The client must not retry commands (MaxRetries -1), or a request
// whose reply was lost is charged twice.
func New(client redis.UniversalClient) *Limiter {
	return &Limiter{rate: redis_rate.NewLimiter(client), metrics: newMetrics(), waiting: map[Budget][]*request{}}
}

// Charge takes one request from each budget in turn, and stops at the first that rejects it. The budgets before that one stay charged. It fails
// when Redis does not answer; the request may have been charged then.
func (l *Limiter) Charge(ctx context.Context, all ...Budget) (Decision, error) {
	limited := slices.DeleteFunc(slices.Clone(all), func(b Budget) bool { return b.PerMinute <= 0 })
	r := &request{rest: limited, shown: Decision{Allowed: true, Limit: Unlimited, Remaining: Unlimited}, done: make(chan struct{})}
	if len(limited) == 0 {
		return r.shown, nil
	}
	l.wait(context.WithoutCancel(ctx), r) // others may wait for the same answer after this caller has left
	select {
	case <-r.done:
	case <-ctx.Done():
		return Decision{}, fmt.Errorf("charge the budget of scope %s: %w", limited[0].Scope, ctx.Err())
	}
	if r.err != nil {
		return Decision{}, r.err
	}
	l.count(r.shown, limited)
	return r.shown, nil
}

// wait adds a request to the next call for its budget.
func (l *Limiter) wait(ctx context.Context, r *request) {
	b := r.rest[0]
	l.mu.Lock()
	others, asking := l.waiting[b]
	l.waiting[b] = append(others, r)
	l.mu.Unlock()
	if !asking {
		go l.ask(ctx, b)
	}
}

// ask calls Redis until no request waits for this budget. It ends by itself: the client bounds each call.
func (l *Limiter) ask(ctx context.Context, b Budget) {
	for {
		l.mu.Lock()
		batch := l.waiting[b]
		if len(batch) == 0 {
			delete(l.waiting, b)
			l.mu.Unlock()
			return
		}
		l.waiting[b] = nil
		l.mu.Unlock()
		answer, err := l.rate.AllowAtMost(ctx, b.redisKey(), redis_rate.PerMinute(b.PerMinute), len(batch))
		for i, r := range batch {
			d, err := b.decision(i, answer, err)
			if r.shown.Scope == "" || d.Remaining < r.shown.Remaining || !d.Allowed {
				r.shown, r.err = d, err
			}
			if r.rest = r.rest[1:]; len(r.rest) > 0 && d.Allowed {
				l.wait(ctx, r)
			} else {
				close(r.done)
			}
		}
	}
}

// Peek returns the decision that a request would get now, and charges nothing.
func (l *Limiter) Peek(ctx context.Context, b Budget) (Decision, error) {
	answer, err := l.rate.AllowAtMost(ctx, b.redisKey(), redis_rate.PerMinute(b.PerMinute), 0)
	if err == nil && answer.RetryAfter < 0 {
		answer.Allowed = 1
	}
	d, err := b.decision(0, answer, err)
	if err == nil && !d.Allowed {
		l.count(d, nil)
	}
	return d, err
}

// decision returns the decision about the request at this index of a batch. While Redis rejects writes, reads still work, so requests pass
// uncounted. An empty bucket still rejects, since redis_rate checks it before it writes.
func (b Budget) decision(index int, answer *redis_rate.Result, err error) (Decision, error) {
	d := Decision{Scope: b.Scope, Limit: b.PerMinute}
	switch {
	case fault.ChangesRefused(err) != "":
		d.Allowed, d.Remaining = true, b.PerMinute
	case err != nil:
		return Decision{}, fmt.Errorf("charge the budget of scope %s: %w", b.Scope, err)
	case index < answer.Allowed:
		later := answer.Allowed - 1 - index
		d.Allowed, d.Reset = true, max(answer.ResetAfter-b.refill(later), b.refill(1))
		used := math.Ceil(float64(d.Reset-slack) / float64(b.refill(1)))
		d.Remaining = min(max(b.PerMinute-int(used), 0), b.PerMinute-1)
	default:
		d.Reset, d.RetryAfter = answer.ResetAfter, max(answer.ResetAfter+b.refill(1)-period, time.Microsecond)
	}
	return d, nil
}

// refill returns how long the bucket needs to refill n requests.
func (b Budget) refill(n int) time.Duration {
	return time.Duration(float64(n) / float64(b.PerMinute) * float64(period))
}
