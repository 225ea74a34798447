package httpapi

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
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

// sharedRead is one read under way; page and err may be read once over.
type sharedRead struct {
	page encodedPage
	err  error

	over    bool
	waiting []*readWaiter
	look    *time.Timer // nil while nobody waits
}

// readWaiter is a request that waits for a read.
type readWaiter struct {
	ctx   context.Context
	ended chan struct{} // closed once err is there
	err   error         // that of ctx, when it ended before the read
}

// lookEvery is how often all who wait for a read are asked whether their requests have ended. There is a timer for the read, and none for
// each of them: a request whose context nobody waits for needs neither a timer nor a look at its connection.
const lookEvery = 100 * time.Millisecond

var errReadEnded = errors.New("the read ended without a result")

// next is do for a read that begins after this call: one that is under way is waited for, and only the one after it counts.
func (r *pageReads) next(ctx context.Context, what pageRead, read func(context.Context) (encodedPage, error)) (page encodedPage, shared bool, err error) {
	r.mu.Lock()
	before := r.underway[what]
	r.mu.Unlock()
	if before != nil {
		if err := r.wait(ctx, before); err != nil {
			return encodedPage{}, false, err
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
		one = &sharedRead{err: errReadEnded}
		r.underway[what] = one
		go r.run(context.WithoutCancel(ctx), what, one, read)
	}
	r.mu.Unlock()
	if err := r.wait(ctx, one); err != nil {
		return encodedPage{}, shared, err
	}
	return one.page, shared, one.err
}

// wait waits until the read is over, or ctx has ended, which is seen lookEvery later at the latest.
func (r *pageReads) wait(ctx context.Context, one *sharedRead) error {
	w := &readWaiter{ctx: ctx, ended: make(chan struct{})}
	r.mu.Lock()
	if one.over {
		r.mu.Unlock()
		return nil
	}
	one.waiting = append(one.waiting, w)
	if one.look == nil {
		one.look = time.AfterFunc(lookEvery, func() { r.lookAt(one) })
	}
	r.mu.Unlock()
	<-w.ended
	if w.err != nil {
		return fault.Down("read a page", w.err)
	}
	return nil
}

// lookAt lets those go who wait for the read and whose requests have ended.
func (r *pageReads) lookAt(one *sharedRead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.over {
		return
	}
	one.waiting = slices.DeleteFunc(one.waiting, func(w *readWaiter) bool {
		if w.err = w.ctx.Err(); w.err != nil {
			close(w.ended)
		}
		return w.err != nil
	})
	one.look.Reset(lookEvery)
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
		one.over = true
		if one.look != nil {
			one.look.Stop()
		}
		r.mu.Unlock()
		for _, w := range one.waiting {
			close(w.ended)
		}
	}()
	one.page, one.err = read(ctx)
}
