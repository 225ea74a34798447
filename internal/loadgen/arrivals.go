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
	unsent int64 // that were due and that nobody took; to be read after run
	made   int64 // that were due; to be read after run
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
		if at.After(end) || !sleeper.until(ctx, at) {
			return
		}
		a.made++
		select {
		case a.due <- at:
		case <-ctx.Done():
			a.countUnsent(at, end)
			return
		}
	}
}

// countUnsent counts the arrival at that time and those after it that were due when the load ended.
func (a *arrivals) countUnsent(at, end time.Time) {
	if now := time.Now(); now.Before(end) {
		end = now // interrupted
	}
	further := int64(end.Sub(at).Seconds() * float64(a.rate))
	a.made += further
	a.unsent = 1 + further
}

func (a *arrivals) gap() time.Duration {
	mean := float64(time.Second) / float64(a.rate)
	if a.random {
		return time.Duration(mean * a.r.ExpFloat64())
	}
	return time.Duration(mean)
}

// sleep reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-pause.C:
		return true
	}
}
