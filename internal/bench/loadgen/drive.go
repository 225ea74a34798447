package loadgen

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
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

// crowd is all connections of one phase of a run.
type crowd struct {
	target      *target
	shared      *shared
	shares      []share
	connections int
	seed        uint64
	recorder    *recorder
	arrivals    *arrivals     // nil for a closed loop
	duration    time.Duration // of the arrivals
}

// run drives the connections until ctx ends, arrivals end, or nothing is left to ask. A request that is under way then is waited
// for, so that its outcome is known.
func (c *crowd) run(ctx context.Context) {
	var group sync.WaitGroup
	if c.arrivals != nil {
		began := time.Now()
		group.Go(func() { c.arrivals.run(ctx, began, began.Add(c.duration)) })
	}
	for i := range c.connections {
		r := rand.New(rand.NewPCG(c.seed, uint64(i)))
		w := &worker{target: c.target, mix: newMix(c.shares, c.shared, r), record: c.recorder.of(i), arrivals: c.arrivals}
		group.Go(func() { w.run(ctx) })
	}
	group.Wait()
}

// worker is one connection and what asks on it.
type worker struct {
	target *target
	mix    *mix
	record *stripe
	conn   *conn
	buffer []byte
	// arrivals say when to ask; nil: as soon as there is an answer.
	arrivals *arrivals
}

func (w *worker) run(ctx context.Context) {
	defer w.hangUp()
	for {
		due, more := w.wait(ctx)
		if !more {
			return
		}
		operation := w.mix.draw()
		if w.conn == nil && !w.connect(ctx, operation) {
			continue
		}
		if !w.ask(operation, due) {
			return
		}
	}
}

// wait returns when the next request may be made, and since when it is due; the zero time in a closed loop, where it is due when
// it is made. more is false at the end of the load.
func (w *worker) wait(ctx context.Context) (due time.Time, more bool) {
	if w.arrivals == nil {
		return due, ctx.Err() == nil
	}
	due, more = <-w.arrivals.due
	return due, more
}

// ask makes one request and records its outcome. It reports false when there is nothing left to ask.
func (w *worker) ask(operation int, due time.Time) bool {
	step := w.mix.steps[operation]
	request, more := step.next(w.buffer[:0])
	if !more {
		return false
	}
	w.buffer = request
	_, w.conn.keep = step.(bodyReader)
	began := time.Now()
	answer, err := w.conn.exchange(request, began.Add(answerTime))
	if due.IsZero() {
		due = began
	}
	took := time.Since(due)
	good := step.settle(answer)
	switch {
	case good:
		w.record.succeeded(operation, took)
	case err == nil:
		w.record.failed(operation, strconv.Itoa(answer.status))
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.record.failed(operation, timedOut)
	default:
		w.record.failed(operation, brokenOff)
	}
	if err != nil || w.conn.last {
		w.hangUp()
	}
	return true
}

// connect makes the connection. That it failed is an error of the operation that would have used it.
func (w *worker) connect(ctx context.Context, operation int) bool {
	c, err := w.target.dial(ctx)
	if err == nil {
		w.conn = c
		return true
	}
	if ctx.Err() != nil {
		return false
	}
	w.record.failed(operation, unreachable)
	pause.For(ctx, redialPause)
	return false
}

func (w *worker) hangUp() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}
