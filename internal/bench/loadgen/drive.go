package loadgen

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"levelboard/internal/platform/pause"
)

// redialPause is how long a connection that could not be made is left alone.
const redialPause = 100 * time.Millisecond

// What came instead of an answer.
const (
	unreachable = "no connection"
	timedOut    = "no answer in time"
	brokenOff   = "broken connection"
)

// crowd is all connections of one load.
type crowd struct {
	*bench
	shares      []share
	connections int
	seed        uint64
	record      *recorder
	arrivals    *arrivals // nil for a closed loop
}

// run drives the connections until ctx ends, and says how long that took. It waits for a request that is then under way, so that
// its outcome is known.
func (c *crowd) run(ctx context.Context) (took time.Duration) {
	began := time.Now()
	var group sync.WaitGroup
	if c.arrivals != nil {
		group.Go(func() { c.arrivals.run(ctx, began.Add(c.Duration)) })
	}
	for i := range c.connections {
		m := newMix(c.bench, c.shares, rand.New(rand.NewPCG(c.seed, uint64(i))))
		group.Go(func() {
			for {
				due, more := c.await(ctx)
				if !more {
					return
				}
				c.ask(ctx, m, due)
			}
		})
	}
	group.Wait()
	return time.Since(began)
}

// await returns when the next request is due: now in a closed loop. more is false at the end of the load.
func (c *crowd) await(ctx context.Context) (due time.Time, more bool) {
	if c.arrivals == nil {
		return time.Now(), ctx.Err() == nil
	}
	due, more = <-c.arrivals.due
	return due, more
}

// ask makes one request and records its outcome.
func (c *crowd) ask(ctx context.Context, m *mix, due time.Time) {
	operation := m.draw()
	step := m.steps[operation]
	got, err := c.client.do(context.WithoutCancel(ctx), step.next())
	took := time.Since(due)
	why := failure(err)
	if why == unreachable { // nothing was asked
		c.record.failed(operation, why)
		pause.For(ctx, redialPause)
		return
	}
	switch good := step.settle(got); {
	case good:
		c.record.succeeded(operation, took)
	case err != nil:
		c.record.failed(operation, why)
	default:
		c.record.failed(operation, strconv.Itoa(got.status))
	}
}

func failure(err error) string {
	var dial *net.OpError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &dial) && dial.Op == "dial":
		return unreachable
	case errors.Is(err, context.DeadlineExceeded):
		return timedOut
	}
	return brokenOff
}

// arrivals are requests that are due at times of their own: an open loop. Whoever is free takes the next one. A request that
// finds nobody free waits, and its wait is part of its latency.
type arrivals struct {
	rate int
	r    *rand.Rand
	due  chan time.Time
	// To be read after run: how many were due, and how many of them nobody took.
	made, unsent int64
}

// newArrivals returns rate requests a second, as many independent callers send them (Poisson).
func newArrivals(rate int, seed uint64) *arrivals {
	return &arrivals{rate: rate, r: rand.New(rand.NewPCG(seed, 1<<32)), due: make(chan time.Time)}
}

// run makes the arrivals until ctx ends or end comes, and then closes due.
func (a *arrivals) run(ctx context.Context, end time.Time) {
	defer close(a.due)
	for at := time.Now(); ; a.made++ {
		at = at.Add(time.Duration(a.r.ExpFloat64() * float64(time.Second) / float64(a.rate)))
		if at.Before(end) && pause.For(ctx, time.Until(at)) {
			select {
			case a.due <- at:
				continue
			case <-ctx.Done():
			}
		}
		if now := time.Now(); now.Before(end) {
			end = now // interrupted
		}
		if at.Before(end) {
			a.unsent = 1 + int64(end.Sub(at).Seconds()*float64(a.rate))
			a.made += a.unsent
		}
		return
	}
}
