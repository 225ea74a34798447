package periods

import (
	"context"
	"time"
)

const (
	// queuePage is how many steps are read at once.
	queuePage = 100
	// queueTime bounds the time that a look spends on one queue: closing goes first.
	queueTime = 10 * time.Second
)

// queue runs a step for everything that waits in the archive, and leaves failures for later.
type queue[T any, P any] struct {
	read  func(ctx context.Context, after P, limit int) ([]T, error)
	place func(T) P
	step  func(context.Context, T) error
	after P // where the next work begins; the zero value is the beginning
}

// work continues where the last one stopped, for a bounded time, and begins again after it has reached the end. The error is the first one.
func (q *queue[T, P]) work(ctx context.Context) (first error) {
	for deadline := time.Now().Add(queueTime); ; {
		waiting, err := q.read(ctx, q.after, queuePage)
		for _, one := range waiting {
			if failed := q.step(ctx, one); failed != nil && err == nil {
				err = failed
			}
			q.after = q.place(one)
		}
		if first == nil {
			first = err
		}
		if len(waiting) < queuePage {
			var beginning P
			q.after = beginning
			return first
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return first
		}
	}
}
