package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

const (
	// slack is how far off the time of a bucket may be: it is a float with a resolution of 0.06 µs, summed up over many
	// charges, and without slack a fresh bucket would show one request less than it has. It is less than it takes a client
	// to send its next request.
	slack = 50 * time.Microsecond
	// refundTime bounds a refund, which goes on when the request that caused it has ended.
	refundTime = 2 * time.Second
)

// Limiter charges budgets. It is safe for concurrent use, and a prometheus.Collector of what it decided.
type Limiter struct {
	client  redis.UniversalClient
	buckets *redis_rate.Limiter
	outcome *prometheus.CounterVec
}

// New returns a Limiter whose buckets are in this Redis. The client must not repeat commands by itself (MaxRetries -1), or
// a request whose reply was lost is charged again.
func New(client redis.UniversalClient) *Limiter {
	return &Limiter{
		client:  client,
		buckets: redis_rate.NewLimiter(client),
		outcome: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "levelboard_rate_limit_requests_total",
			Help: "Requests by the scope of a budget and its outcome; a limited request is counted for the budget that refused it only.",
		}, []string{"scope", "outcome"}),
	}
}

// Describe is that of prometheus.Collector.
func (l *Limiter) Describe(ch chan<- *prometheus.Desc) { l.outcome.Describe(ch) }

// Collect is that of prometheus.Collector.
func (l *Limiter) Collect(ch chan<- prometheus.Metric) { l.outcome.Collect(ch) }

// Charge takes one request from each budget or, when one of them refuses, from none. Budgets are charged in the order
// given; give the narrower one first, so that a charge that is taken back a moment later cannot have turned away a request
// that the wider one would have let pass. Each budget is one step in Redis, but all of them together are not: with Redis
// Cluster they are on different servers. An error means that Redis could not be asked; some may have been charged then.
func (l *Limiter) Charge(ctx context.Context, budgets ...Budget) (Decision, error) {
	shown := Decision{Allowed: true, Limit: Unlimited, Remaining: Unlimited}
	for i, b := range budgets {
		if !b.limited() {
			continue
		}
		d, err := l.charge(ctx, b)
		if err != nil {
			return Decision{}, err
		}
		if !d.Allowed {
			if err := l.refund(ctx, budgets[:i]); err != nil {
				return Decision{}, err
			}
			l.outcome.WithLabelValues(b.Scope, "limited").Inc()
			return d, nil
		}
		if d.Remaining < shown.Remaining {
			shown = d
		}
	}
	for _, b := range budgets {
		if b.limited() {
			l.outcome.WithLabelValues(b.Scope, "allowed").Inc()
		}
	}
	return shown, nil
}

func (l *Limiter) charge(ctx context.Context, b Budget) (Decision, error) {
	r, err := l.buckets.Allow(ctx, b.redisKey(), redis_rate.PerMinute(b.PerMinute))
	if err != nil {
		return Decision{}, fmt.Errorf("charge the budget of scope %s: %w", b.Scope, err)
	}
	d := Decision{Allowed: r.Allowed > 0, Scope: b.Scope, Limit: b.PerMinute, Reset: r.ResetAfter}
	if !d.Allowed {
		d.RetryAfter = r.RetryAfter
		return d, nil
	}
	d.Remaining = b.remaining(r.ResetAfter)
	return d, nil
}

// remaining derives what is left from the time until the bucket is full: redis_rate's own number is cut off, and so one
// too low whenever the float is a hair under it.
func (b Budget) remaining(reset time.Duration) int {
	used := float64(reset-slack) / float64(time.Minute) * float64(b.PerMinute)
	return min(max(b.PerMinute-int(math.Ceil(used)), 0), b.PerMinute-1)
}

// refund gives back what was charged already, whether the caller still waits or not.
func (l *Limiter) refund(ctx context.Context, budgets []Budget) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refundTime)
	defer cancel()
	var errs []error
	for _, b := range budgets {
		if !b.limited() {
			continue
		}
		if err := refundOne.Run(ctx, l.client, []string{rateKey(b)}, b.PerMinute).Err(); err != nil {
			errs = append(errs, fmt.Errorf("give back a charge of scope %s: %w", b.Scope, err))
		}
	}
	return errors.Join(errs...)
}

// rateKey is the name under which redis_rate keeps the budget's bucket.
func rateKey(b Budget) string { return "rate:" + b.redisKey() }
