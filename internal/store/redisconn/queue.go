package redisconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// batchCalls is how many calls are sent together at most. Redis runs that many in well below a millisecond.
	batchCalls = 64
	// batchesAtOnce is how many batches are under way at the same time: Redis works on one while callers get the replies of the other.
	batchesAtOnce = 2
	// callsBeside is how many calls must wait before a batch is sent beside another. With a lower number batches would get small, and a round
	// trip of its own costs a call more than waiting for the next batch.
	callsBeside = 16
	// lookEvery is how often the queue drops waiting calls whose requests were cancelled.
	lookEvery = 100 * time.Millisecond
	// maxCalls bounds the calls that wait to be sent. It is above the bound on concurrent requests.
	maxCalls = 8192
)

var errCallsFull = errors.New("too many calls wait for Redis")

// queue sends small calls of concurrent requests to a node together: one round trip for up to batchCalls. A call that finds no batch under way is
// sent at once. Later calls wait for the next batch, which is sent when the previous one is back, or beside it once enough calls wait (ADR 7).
// Each call is one step in Redis, and none is sent again once it may have run.
type queue struct {
	node   *node
	atOnce int // how many batches are under way at most
	beside int // how many calls must wait for another batch beside one that is under way

	mu      sync.Mutex
	senders int
	waiting []*Call
	looked  time.Time // see lookEvery
}

// queued is the queue's state of a call.
type queued struct {
	ctx      context.Context
	arrived  time.Time
	patience time.Duration
	done     sync.WaitGroup // for the reply or the error
}

// do makes the call and returns once it was answered, or Redis was silent for longer than the patience of ctx. If ctx ends before the call is
// sent, the call is dropped; do may return only when the batch before is back, at most one patience later.
func (q *queue) do(ctx context.Context, c *Call) {
	c.queued = queued{ctx: ctx, arrived: time.Now(), patience: q.node.gate.patience(ctx)}
	c.done.Add(1)
	q.mu.Lock()
	if len(q.waiting) >= maxCalls {
		q.mu.Unlock()
		c.notSent(errCallsFull)
		return
	}
	q.waiting = append(q.waiting, c)
	start := q.senders == 0 || q.senders < q.atOnce && len(q.waiting) >= q.beside
	if start {
		q.senders++
	}
	q.mu.Unlock()
	if start {
		go q.send()
	}
	c.done.Wait()
}

func (c *Call) notSent(err error) { c.answer(nil, fmt.Errorf("not sent: %w", err)) }

// send sends batches until the queue is empty. It always returns, because the patience bounds calls and batches.
func (q *queue) send() {
	batch := make([]*Call, 0, batchCalls)
	for {
		batch = q.take(batch[:0])
		if len(batch) == 0 {
			return
		}
		q.sendBatch(batch)
		for i, c := range batch {
			batch[i] = nil
			c.done.Done()
		}
	}
}

// take removes the calls that have waited longest from the queue, without those of cancelled requests. An empty batch means that this sender
// must exit.
func (q *queue) take(batch []*Call) []*Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := time.Now(); now.Sub(q.looked) >= lookEvery {
		q.looked = now
		q.waiting = slices.DeleteFunc(q.waiting, (*Call).left)
	}
	if q.senders > 1 && len(q.waiting) < q.beside {
		q.senders--
		return batch
	}
	taken := 0
	for taken < len(q.waiting) && len(batch) < batchCalls {
		c := q.waiting[taken]
		taken++
		if !c.left() {
			batch = append(batch, c)
		}
	}
	q.waiting = slices.Delete(q.waiting, 0, taken)
	if len(batch) == 0 {
		q.senders--
	}
	return batch
}

// left reports whether the call's request was cancelled before it was sent, and answers it if so.
func (c *Call) left() bool {
	err := c.ctx.Err()
	if err != nil {
		c.notSent(err)
		c.done.Done()
	}
	return err != nil
}

// sendBatch makes the calls. Afterwards each has its reply or its error.
func (q *queue) sendBatch(batch []*Call) {
	now, calls := time.Now(), make([]*Call, 0, len(batch))
	var last *Call // the patience of this call counts for the batch, so that a call with little left does not cut the others off
	var end time.Time
	for _, c := range batch {
		ends := q.node.gate.patientUntil(c.arrived, c.patience)
		if !ends.After(now) {
			c.notSent(errSilent)
			continue
		}
		if ends.After(end) {
			last, end = c, ends
		}
		calls = append(calls, c)
	}
	if len(calls) > 0 {
		q.node.metrics.sent.Observe(float64(len(calls)))
		q.node.send(context.Background(), last.arrived, last.patience, calls)
	}
}

// length is how many calls wait.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
