package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/pause"
)

// leastPatience is how long a call of Redis may take at least, so that it notices when Redis is back.
const leastPatience = 50 * time.Millisecond

// Limiter charges budgets. It is safe for concurrent use, and a prometheus.Collector of its decisions.
type Limiter struct {
	client redis.UniversalClient
	single *redis_rate.Limiter
	metrics

	mu      sync.Mutex
	waiting map[budgets][]*request // the requests that the next call of Redis charges; one such call is under way for each entry
}

// request waits for Redis.
type request struct {
	arrived  time.Time
	done     chan struct{} // closed once the rest is set
	decision Decision
	err      error
}

// New returns a Limiter with its buckets in this Redis. The client must not retry commands (MaxRetries -1), or a request
// whose reply was lost is charged twice.
func New(client redis.UniversalClient) *Limiter {
	return &Limiter{client: client, single: redis_rate.NewLimiter(client), metrics: newMetrics(), waiting: map[budgets][]*request{}}
}

// Charge takes one request from each budget, of which at most two may have a limit, or from none if one rejects it. Both are charged in one
// step, so they must share a hash tag (Budget.Owner). Requests with the same budgets that arrive meanwhile share the next call. After an
// error, which means that Redis did not answer, the request may have been charged.
func (l *Limiter) Charge(ctx context.Context, all ...Budget) (Decision, error) {
	b, err := limited(all)
	if err != nil || b.count() == 0 {
		return Decision{Allowed: true, Limit: Unlimited, Remaining: Unlimited}, err
	}
	r := &request{arrived: time.Now(), done: make(chan struct{})}
	l.mu.Lock()
	others, asking := l.waiting[b]
	l.waiting[b] = append(others, r)
	l.mu.Unlock()
	if !asking {
		go l.ask(context.WithoutCancel(ctx), b) // others may wait for the same answer when this caller has left
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return Decision{}, b.failure(ctx.Err())
	}
	if r.err != nil {
		return Decision{}, r.err
	}
	l.count(b, r.decision)
	return r.decision, nil
}

// Peek returns the decision that a request would get now, and charges nothing.
func (l *Limiter) Peek(ctx context.Context, budget Budget) (Decision, error) {
	b := budgets{budget}
	_, full, err := l.takeByScript(ctx, b, 0)
	if err != nil {
		return Decision{}, b.failure(err)
	}
	if budget.remaining(full[0]) > 0 {
		return b.allowed(full, 0), nil
	}
	d := b.rejected(full)
	l.count(b, d)
	return d, nil
}

// ask calls Redis until no request with these budgets waits. It ends by itself: the client bounds each call.
func (l *Limiter) ask(ctx context.Context, b budgets) {
	var heard time.Time
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
		taken, full, err := l.take(patient(ctx, batch[0].arrived, heard, time.Now()), b, min(len(batch), b.smallest()))
		if err == nil {
			heard = time.Now()
		}
		for i, r := range batch {
			switch {
			case err != nil:
				r.err = b.failure(err)
			case i < taken:
				r.decision = b.allowed(full, taken-1-i)
			default:
				r.decision = b.rejected(full)
			}
			close(r.done)
		}
	}
}

// patient returns ctx with the patience that is left to a caller who arrived then. It counts from Redis' last answer if that
// came later: only the time in which Redis was silent is spent.
func patient(ctx context.Context, arrived, heard, now time.Time) context.Context {
	patience := pause.Patience(ctx)
	if patience == 0 {
		return ctx
	}
	if heard.After(arrived) {
		arrived = heard
	}
	return pause.WithPatience(ctx, min(patience, max(patience-now.Sub(arrived), leastPatience)))
}

func (b budgets) failure(err error) error {
	return fmt.Errorf("charge the budget of scope %s: %w", b[0].Scope, err)
}
