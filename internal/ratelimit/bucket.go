package ratelimit

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

const (
	period = time.Minute
	// slack is how far off the time of a bucket may be: it is a float with a resolution of 0.06 µs, summed up over many
	// charges, and without slack a fresh bucket would show one request less than it has. It is less than it takes a client
	// to send its next request.
	slack = 50 * time.Microsecond
)

// buckets are the one or two budgets that a request is charged to, those that have a limit.
type buckets struct {
	budgets [2]Budget
	n       int
}

// bucketsOf leaves out the budgets without a limit.
func bucketsOf(budgets []Budget) (b buckets, err error) {
	for _, budget := range budgets {
		if !budget.limited() {
			continue
		}
		if b.n == len(b.budgets) {
			return b, fmt.Errorf("charge the limits: more than %d budgets", len(b.budgets))
		}
		b.budgets[b.n] = budget
		b.n++
	}
	return b, nil
}

// bucketsName tells buckets apart; it is short, since it is looked up for each request.
type bucketsName struct {
	scope, first, second string
	limits               [2]int
}

func (b *buckets) name() bucketsName {
	return bucketsName{
		scope: b.budgets[0].Scope, first: b.budgets[0].Name, second: b.budgets[1].Name,
		limits: [2]int{b.budgets[0].PerMinute, b.budgets[1].PerMinute},
	}
}

func (b *buckets) all() []Budget { return b.budgets[:b.n] }

// smallest is the lowest limit.
func (b *buckets) smallest() int {
	limit := Unlimited
	for _, budget := range b.all() {
		limit = min(limit, budget.PerMinute)
	}
	return limit
}

// charge takes up to n requests from each bucket in one step, and returns how many it took, and after how long each is full.
func (b *buckets) charge(ctx context.Context, client redis.UniversalClient, n int) (taken int, full [2]time.Duration, err error) {
	if n == 1 && b.n == 1 {
		r, err := redis_rate.NewLimiter(client).Allow(ctx, b.budgets[0].redisKey(), redis_rate.PerMinute(b.budgets[0].PerMinute))
		switch {
		case refusesWrites(err) || err == nil && r.ResetAfter > period+time.Millisecond:
			// Nothing was taken, and what is to be done then is for chargeAll.
		case err != nil:
			return 0, full, b.failure(err)
		default:
			return r.Allowed, [2]time.Duration{r.ResetAfter}, nil
		}
	}
	keys, args := make([]string, b.n), make([]any, 1, 1+b.n)
	args[0] = n
	for i, budget := range b.all() {
		keys[i] = rateKey(budget)
		args = append(args, budget.PerMinute)
	}
	answer, err := chargeAll.Run(ctx, client, keys, args...).Slice()
	if err != nil {
		return 0, full, b.failure(err)
	}
	for i := range b.n + 1 {
		seconds, err := seconds(answer, i)
		if err != nil {
			return 0, full, b.failure(err)
		}
		if i == 0 {
			taken = int(seconds)
		} else {
			full[i-1] = time.Duration(seconds * float64(time.Second))
		}
	}
	return taken, full, nil
}

func (b *buckets) failure(err error) error {
	return fmt.Errorf("charge the budget of scope %s: %w", b.budgets[0].Scope, err)
}

func seconds(answer []any, i int) (float64, error) {
	if i < len(answer) {
		switch v := answer[i].(type) {
		case int64:
			return float64(v), nil
		case string:
			return strconv.ParseFloat(v, 64)
		}
	}
	return 0, fmt.Errorf("unexpected reply %v", answer)
}

// allowed is the decision for a request that was charged, after which each bucket is full after so long.
func (b *buckets) allowed(full [2]time.Duration) Decision {
	shown := Decision{Allowed: true, Limit: Unlimited, Remaining: Unlimited}
	for i, budget := range b.all() {
		if left := budget.remaining(full[i]); left < shown.Remaining {
			shown = Decision{Allowed: true, Scope: budget.Scope, Limit: budget.PerMinute, Remaining: left, Reset: max(full[i], 0)}
		}
	}
	return shown
}

// refused is the decision for a request that was not charged: of the bucket that has no room for longest.
func (b *buckets) refused(full [2]time.Duration) Decision {
	var shown Decision
	for i, budget := range b.all() {
		wait := full[i] + budget.interval() - period
		if i == 0 || wait > shown.RetryAfter {
			shown = Decision{Scope: budget.Scope, Limit: budget.PerMinute, Reset: full[i], RetryAfter: wait}
		}
	}
	shown.RetryAfter = max(shown.RetryAfter, time.Microsecond)
	return shown
}

// interval is after how long one request is refilled.
func (b Budget) interval() time.Duration { return period / time.Duration(b.PerMinute) }

// used is how long n requests take to be refilled.
func (b Budget) used(n int) time.Duration {
	return time.Duration(float64(n) / float64(b.PerMinute) * float64(period))
}

// remaining derives what is left from the time until the bucket is full: redis_rate's own number is cut off, and so one
// too low whenever the float is a hair under it.
func (b Budget) remaining(full time.Duration) int {
	used := float64(full-slack) / float64(period) * float64(b.PerMinute)
	return min(max(b.PerMinute-int(math.Ceil(used)), 0), b.PerMinute-1)
}

// rateKey is the name of the budget's bucket, in the way of redis_rate.
func rateKey(b Budget) string { return "rate:" + b.redisKey() }
