package httpapi

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"levelboard/internal/fault"
	"levelboard/internal/guild"
)

// pageRead says what is read: a page for whom, by which settings.
type pageRead struct {
	pageName
	incarnation guild.Incarnation
	settings    int64
}

// pageReads lets requests for the same page share one read. Each kind of read is under way once at a time.
type pageReads struct {
	mu       sync.Mutex
	underway map[pageRead]*sharedRead
}

// sharedRead is one read under way; page and err may be read once done is closed.
type sharedRead struct {
	done chan struct{}
	page encodedPage
	err  error
}

var errReadEnded = errors.New("the read ended without a result")

// next is do for a read that begins after this call: one that is under way is waited for, and only the one after it counts.
func (r *pageReads) next(ctx context.Context, what pageRead, read func(context.Context) (encodedPage, error)) (page encodedPage, shared bool, err error) {
	r.mu.Lock()
	before := r.underway[what]
	r.mu.Unlock()
	if before != nil {
		select {
		case <-before.done:
		case <-ctx.Done():
			return encodedPage{}, false, fault.Down("read a page", ctx.Err())
		}
	}
	return r.do(ctx, what, read)
}

// do reads, or waits for the read that is under way (shared), which may have begun before this call. The read goes on when
// who began it leaves; it ends with the time of a request.
func (r *pageReads) do(ctx context.Context, what pageRead, read func(context.Context) (encodedPage, error)) (page encodedPage, shared bool, err error) {
	r.mu.Lock()
	one, shared := r.underway[what]
	if !shared {
		one = &sharedRead{done: make(chan struct{}), err: errReadEnded}
		r.underway[what] = one
		go r.run(context.WithoutCancel(ctx), what, one, read)
	}
	r.mu.Unlock()
	select {
	case <-one.done:
		return one.page, shared, one.err
	case <-ctx.Done():
		return encodedPage{}, shared, fault.Down("read a page", ctx.Err())
	}
}

func (r *pageReads) run(ctx context.Context, what pageRead, one *sharedRead, read func(context.Context) (encodedPage, error)) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	defer func() {
		// On this goroutine nobody else would recover, and one bad page would end the whole service.
		if p := recover(); p != nil {
			one.err = fmt.Errorf("the read panicked: %v\n%s", p, debug.Stack())
		}
		r.mu.Lock()
		delete(r.underway, what)
		r.mu.Unlock()
		close(one.done)
	}()
	one.page, one.err = read(ctx)
}
