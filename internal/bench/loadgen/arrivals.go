package loadgen

import (
	"context"
	"math/rand/v2"
	"time"
)

// arrivals are requests that are due at times of their own, whether the server keeps up or not: an open loop. Whoever is free
// takes the next one. A request that finds nobody free waits, and its wait is part of its latency.
type arrivals struct {
	rate   int
	random bool // as many independent callers come (Poisson), rather than evenly
	r      *rand.Rand
	due    chan time.Time
	made   int64 // that were due; to be read after run
	unsent int64 // of them, those that nobody took
}

// newArrivals is rate requests a second.
func newArrivals(rate int, seed uint64, random bool) *arrivals {
	return &arrivals{rate: rate, random: random, r: rand.New(rand.NewPCG(seed, 1<<32)), due: make(chan time.Time)}
}

// run makes the arrivals until ctx ends or end comes, and counts those that were due by then and that nobody took. It closes due.
func (a *arrivals) run(ctx context.Context, began, end time.Time) {
	defer close(a.due)
	sleeper := newSleeper()
	defer sleeper.close()
	at := began
	for {
		at = at.Add(a.gap())
		if at.After(end) || !sleeper.until(ctx, at) || !a.take(ctx, at) {
			a.countUnsent(at, end)
			return
		}
		a.made++
	}
}

// take waits until somebody takes the arrival; false when ctx ended first.
func (a *arrivals) take(ctx context.Context, at time.Time) bool {
	select {
	case a.due <- at:
		return true
	case <-ctx.Done():
		return false
	}
}

// countUnsent counts the arrival at that time and those after it, as many of them as were due when the load ended.
func (a *arrivals) countUnsent(at, end time.Time) {
	if now := time.Now(); now.Before(end) {
		end = now // interrupted
	}
	if at.After(end) {
		return
	}
	a.unsent = 1 + int64(end.Sub(at).Seconds()*float64(a.rate))
	a.made += a.unsent
}

func (a *arrivals) gap() time.Duration {
	mean := float64(time.Second) / float64(a.rate)
	if a.random {
		return time.Duration(mean * a.r.ExpFloat64())
	}
	return time.Duration(mean)
}
