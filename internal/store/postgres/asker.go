package postgres

import (
	"context"
	"sync"
	"time"
)

const (
	// mostAsked is how many questions are one query at most.
	mostAsked = 100
	// askTime bounds a query, and with it how long the questions behind it wait when its connection is one on which nobody
	// answers any more. None of these queries waits for a lock.
	askTime = 5 * time.Second
)

// asker asks the server what concurrent callers want to know, in one query: after a restart of Redis thousands of guilds are compared with
// the archive at once. A question that finds no query under way is asked at once; what comes meanwhile goes with the next.
type asker[Q, A any] struct {
	// ask answers the questions in their order. Its error is that of all.
	ask func(ctx context.Context, questions []Q) ([]A, error)

	mu      sync.Mutex
	asking  bool
	waiting []*question[Q, A]
}

// question is what one caller wants to know. answer and err are there once answered is closed.
type question[Q, A any] struct {
	ctx      context.Context
	of       Q
	answer   A
	err      error
	answered chan struct{}
}

// do asks of, and returns what it was answered, or ctx's error if that ends first: what was asked may then be done all the same.
func (k *asker[Q, A]) do(ctx context.Context, of Q) (answer A, err error) {
	if err := ctx.Err(); err != nil {
		return answer, err
	}
	q := &question[Q, A]{ctx: ctx, of: of, answered: make(chan struct{})}
	k.mu.Lock()
	k.waiting = append(k.waiting, q)
	begin := !k.asking
	k.asking = true
	k.mu.Unlock()
	if begin {
		go k.run()
	}
	select {
	case <-q.answered:
		return q.answer, q.err
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// run asks until nobody waits. It ends by itself, as each query does.
func (k *asker[Q, A]) run() {
	for asked := k.take(); len(asked) > 0; asked = k.take() {
		k.answer(asked)
	}
}

// take takes the questions of the next query. When it returns none, the next question begins again.
func (k *asker[Q, A]) take() (asked []*question[Q, A]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := min(len(k.waiting), mostAsked)
	asked, k.waiting = k.waiting[:n:n], k.waiting[n:]
	if n == 0 {
		k.waiting, k.asking = nil, false
	}
	return asked
}

func (k *asker[Q, A]) answer(asked []*question[Q, A]) {
	// The query is no one caller's: it continues when some of them leave.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(asked[0].ctx), askTime)
	defer cancel()
	questions := make([]Q, len(asked))
	for i, q := range asked {
		questions[i] = q.of
	}
	answers, err := k.ask(ctx, questions)
	for i, q := range asked {
		if q.err = err; err == nil {
			q.answer = answers[i]
		}
		close(q.answered)
	}
}
