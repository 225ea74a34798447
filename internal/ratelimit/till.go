package ratelimit

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/leaderboard"
)

const (
	// leaseShare is the largest part of a minute's budget that one replica holds in advance: 50 ms of it.
	leaseShare = 1200
	// leaseFrom is how large the smallest budget must be, in requests a minute, for anything to be taken in advance.
	leaseFrom = 30_000
	// leaseAhead is for how long a lease is meant to last: what was asked for lately is what is taken.
	leaseAhead = 50 * time.Millisecond
	// leaseTime is how long a lease is good for at most.
	leaseTime = time.Second
	// sweepEvery is how often the tills are dropped whose lease has ended.
	sweepEvery = 10 * time.Second
	// leastPatience is what a question always has, to find out whether Redis is back.
	leastPatience = 50 * time.Millisecond
)

// till is where requests with the same budgets are charged. All that come while Redis is asked are charged together with the
// next question. And where much is asked for, one question takes a lease: requests of the next moment, charged in advance,
// which are then decided without Redis.
//
// A lease is at most a leaseShare-th of the smallest of its budgets and good for leaseTime, a till has one at a time, and all
// of it was charged before. So in any span of time, at most limit / leaseShare requests for each till are let through on top of
// what the bucket lets through in that span: those that were charged before it began. A replica has a till for each key, so
// for an owner with several keys in use, that many. What a lease has left when it ends is lost to the budget. Budgets below
// leaseFrom have no leases, so they are exact.
type till struct {
	buckets
	waiting []*charge
	asking  bool

	leased int // requests that are left of the lease
	until  time.Time
	taken  time.Time // when Redis was last asked
	full   [2]time.Duration
	served int // requests since then
}

// charge is one request that waits for Redis to be asked.
type charge struct {
	arrived  time.Time
	done     chan struct{} // closed once the rest is there
	decision Decision
	err      error
}

// serveWaiting decides those who wait by the lease, as far as it goes.
func (t *till) serveWaiting(now time.Time) {
	for len(t.waiting) > 0 {
		d, ok := t.serve(now)
		if !ok {
			return
		}
		c := t.waiting[0]
		c.decision = d
		close(c.done)
		t.waiting[0] = nil
		t.waiting = t.waiting[1:]
	}
}

// serve decides a request by the lease.
func (t *till) serve(now time.Time) (Decision, bool) {
	if t.leased == 0 || now.After(t.until) {
		return Decision{}, false
	}
	t.leased--
	t.served++
	return t.allowed(t.after(t.leased, now.Sub(t.taken))), true
}

// after is when the buckets are full, if so many requests of those that were charged are not counted, and that long ago.
func (t *till) after(uncounted int, ago time.Duration) (full [2]time.Duration) {
	for i, b := range t.all() {
		full[i] = max(t.full[i]-b.used(uncounted)-ago, b.interval())
	}
	return full
}

// leases reports whether the budgets are large enough for leases.
func (t *till) leases() bool { return t.smallest() >= leaseFrom }

// lease is how many requests to take in advance.
func (t *till) lease(now time.Time) int {
	since := now.Sub(t.taken)
	if !t.leases() || t.taken.IsZero() || since > leaseTime {
		return 0
	}
	return int(min(float64(t.smallest()/leaseShare), float64(t.served)*float64(leaseAhead)/float64(max(since, time.Millisecond))))
}

// ask asks Redis until nobody waits. It ends by itself: the client bounds how long one question takes. Who came while a
// question was not answered has lost that part of his patience.
func (l *Limiter) ask(ctx context.Context, t *till) {
	var heard time.Time
	for {
		l.mu.Lock()
		// Who came while Redis was asked has the lease that it gave, which the next question would replace.
		if len(t.waiting) > 0 {
			t.serveWaiting(l.now())
		}
		batch := t.waiting
		t.waiting = nil
		if len(batch) == 0 {
			t.asking = false
			if !t.leases() {
				delete(l.tills, t.name())
			}
			l.mu.Unlock()
			return
		}
		ahead := t.lease(l.now())
		asked := patient(ctx, batch[0].arrived, heard, l.now())
		l.mu.Unlock()

		n := min(len(batch)+ahead, t.smallest())
		taken, full, err := t.charge(asked, l.client, n)
		l.mu.Lock()
		if err == nil {
			heard = l.now()
		}
		t.settle(batch, taken, full, err, l.now())
		l.mu.Unlock()
		for _, c := range batch {
			close(c.done)
		}
	}
}

// patient returns ctx with the patience that is left to a caller who arrived then, counted from Redis' last answer if that
// came later.
func patient(ctx context.Context, arrived, heard, now time.Time) context.Context {
	patience := leaderboard.Patience(ctx)
	if patience == 0 {
		return ctx
	}
	if heard.After(arrived) {
		arrived = heard
	}
	return leaderboard.WithPatience(ctx, min(patience, max(patience-now.Sub(arrived), leastPatience)))
}

// settle decides the requests of a batch in their order, and keeps what was taken beyond them.
func (t *till) settle(batch []*charge, taken int, full [2]time.Duration, err error, now time.Time) {
	t.taken, t.until, t.full, t.served = now, now.Add(leaseTime), full, len(batch)
	t.leased = max(taken-len(batch), 0)
	for i, c := range batch {
		switch {
		case err != nil:
			c.err = err
		case i < taken:
			c.decision = t.allowed(t.after(taken-1-i, 0))
		default:
			c.decision = t.refused(full)
		}
	}
}

// outcomes are the counters of one scope.
type outcomes struct {
	allowed, limited prometheus.Counter
	used             prometheus.Observer
}
