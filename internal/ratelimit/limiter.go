package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// Limiter charges budgets. It is safe for concurrent use, and a prometheus.Collector of what it decided.
type Limiter struct {
	client  redis.UniversalClient
	outcome *prometheus.CounterVec
	used    *prometheus.HistogramVec
	scopes  map[string]outcomes
	now     func() time.Time

	mu    sync.Mutex
	tills map[bucketsName]*till // those where somebody waits, and those that may have a lease
	swept time.Time
}

// New returns a Limiter whose buckets are in this Redis. The client must not repeat commands by itself (MaxRetries -1), or
// a request whose reply was lost is charged again.
func New(client redis.UniversalClient) *Limiter {
	l := &Limiter{
		client: client,
		outcome: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "levelboard_rate_limit_requests_total",
			Help: "Requests by the scope of a budget and its outcome; a limited request is counted for the budget that refused it only.",
		}, []string{"scope", "outcome"}),
		used: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "levelboard_rate_limit_used_ratio",
			Help:    "Share of the budget that was in use after a request was decided, for the budget that its answer shows.",
			Buckets: []float64{.1, .25, .5, .75, .9, .95, 1},
		}, []string{"scope"}),
		scopes: map[string]outcomes{},
		now:    time.Now,
		tills:  map[bucketsName]*till{},
	}
	for _, scope := range []string{ScopeKey, ScopeIdentity, ScopeAddress, ScopeSignIn} {
		l.scopes[scope] = outcomes{
			allowed: l.outcome.WithLabelValues(scope, "allowed"),
			limited: l.outcome.WithLabelValues(scope, "limited"),
			used:    l.used.WithLabelValues(scope),
		}
	}
	return l
}

// Describe is that of prometheus.Collector.
func (l *Limiter) Describe(ch chan<- *prometheus.Desc) {
	l.outcome.Describe(ch)
	l.used.Describe(ch)
}

// Collect is that of prometheus.Collector.
func (l *Limiter) Collect(ch chan<- prometheus.Metric) {
	l.outcome.Collect(ch)
	l.used.Collect(ch)
}

// Charge takes one request from each budget, of which at most two may have a limit, or, when one of them refuses, from none.
// All of them are one step in Redis, so they must share a hash tag there (Budget.Owner). Requests with the same budgets that
// come at the same time share a step, and where a budget is large, may be charged a moment in advance (till). An error means
// that Redis could not be asked; the request may have been charged then.
func (l *Limiter) Charge(ctx context.Context, budgets ...Budget) (Decision, error) {
	b, err := bucketsOf(budgets)
	if err != nil || b.n == 0 {
		return Decision{Allowed: true, Limit: Unlimited, Remaining: Unlimited}, err
	}
	d, err := l.decide(ctx, b)
	if err != nil {
		return Decision{}, err
	}
	l.count(&b, d)
	return d, nil
}

func (l *Limiter) decide(ctx context.Context, b buckets) (Decision, error) {
	l.mu.Lock()
	t := l.till(b)
	if d, ok := t.serve(l.now()); ok {
		l.mu.Unlock()
		return d, nil
	}
	c := &charge{arrived: l.now(), done: make(chan struct{})}
	t.waiting = append(t.waiting, c)
	if !t.asking {
		t.asking = true
		// Others may wait for the same answer when this request has gone.
		go l.ask(context.WithoutCancel(ctx), t)
	}
	l.mu.Unlock()
	select {
	case <-c.done:
		return c.decision, c.err
	case <-ctx.Done():
		return Decision{}, fmt.Errorf("charge the budget of scope %s: %w", b.budgets[0].Scope, ctx.Err())
	}
}

// till returns the one for these budgets.
func (l *Limiter) till(b buckets) *till {
	name := b.name()
	t := l.tills[name]
	if t != nil {
		return t
	}
	if now := l.now(); now.Sub(l.swept) > sweepEvery {
		l.swept = now
		for other, idle := range l.tills {
			if !idle.asking && now.After(idle.until) {
				delete(l.tills, other)
			}
		}
	}
	t = &till{buckets: b}
	l.tills[name] = t
	return t
}

func (l *Limiter) count(b *buckets, d Decision) {
	shown := l.scopes[d.Scope]
	shown.used.Observe(1 - float64(d.Remaining)/float64(d.Limit))
	if !d.Allowed {
		shown.limited.Inc()
		return
	}
	for _, budget := range b.all() {
		l.scopes[budget.Scope].allowed.Inc()
	}
}
