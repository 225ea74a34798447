package ratelimit

import (
	"errors"
	"math"
	"time"
)

const (
	period = time.Minute
	// slack is how far off the time of a bucket may be: it is a float with a resolution of 0.06 µs, a sum of many charges.
	// Without slack a fresh bucket would show one request less than it has. No client sends its next request that soon.
	slack = 50 * time.Microsecond
)

// budgets are the one or two budgets with a limit that a request is charged to; the second is zero if there is one.
type budgets [2]Budget

// limited leaves out the budgets without a limit.
func limited(all []Budget) (b budgets, err error) {
	n := 0
	for _, budget := range all {
		if budget.PerMinute <= 0 {
			continue
		}
		if n == len(b) {
			return b, errors.New("charge the limits: more than two budgets")
		}
		b[n] = budget
		n++
	}
	return b, nil
}

func (b budgets) count() int {
	for i, budget := range b {
		if budget.PerMinute == 0 {
			return i
		}
	}
	return len(b)
}

// smallest is the lowest limit.
func (b budgets) smallest() int {
	if b.count() == 2 {
		return min(b[0].PerMinute, b[1].PerMinute)
	}
	return b[0].PerMinute
}

// times are how long it takes until each bucket is full.
type times [2]time.Duration

// allowed returns the decision for a request after which so many later ones were charged; full is after all of them.
func (b budgets) allowed(full times, later int) Decision {
	shown := Decision{Allowed: true, Remaining: Unlimited}
	for i, budget := range b[:b.count()] {
		after := max(full[i]-budget.refill(later), budget.refill(1))
		if left := budget.remaining(after); left < shown.Remaining {
			shown = Decision{Allowed: true, Scope: budget.Scope, Limit: budget.PerMinute, Remaining: left, Reset: after}
		}
	}
	return shown
}

// rejected returns the decision for a request that was not charged. It shows the bucket that has no room for longest.
func (b budgets) rejected(full times) (shown Decision) {
	for i, budget := range b[:b.count()] {
		wait := full[i] + budget.refill(1) - period
		if i == 0 || wait > shown.RetryAfter {
			shown = Decision{Scope: budget.Scope, Limit: budget.PerMinute, Reset: full[i], RetryAfter: wait}
		}
	}
	shown.RetryAfter = max(shown.RetryAfter, time.Microsecond)
	return shown
}

// refill is how long n requests take to be refilled.
func (b Budget) refill(n int) time.Duration {
	return time.Duration(float64(n) / float64(b.PerMinute) * float64(period))
}

// remaining derives what is left from the time until the bucket is full. redis_rate's own number is rounded down, and so
// one too low whenever the float is slightly below it.
func (b Budget) remaining(full time.Duration) int {
	used := float64(full-slack) / float64(period) * float64(b.PerMinute)
	return min(max(b.PerMinute-int(math.Ceil(used)), 0), b.PerMinute-1)
}
