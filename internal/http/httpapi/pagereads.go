package httpapi

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/singleflight"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/http/edge"
)

// pageRead says which page to read, for whom, and by which settings.
type pageRead struct {
	pageName
	incarnation guild.Incarnation
	settings    int64
}

// pageReads lets requests for the same page share a read. Each page has at most one running read.
type pageReads struct {
	group singleflight.Group
	begun atomic.Int64
}

type readResult struct {
	page  encodedPage
	err   error
	began int64 // the number of the read; the first is 1
}

// after returns the result of a read whose number is above before, and whether another request began
// that read. The read continues when the request that began it is canceled; it has RequestTime.
func (r *pageReads) after(ctx context.Context, before int64, what pageRead, read func(context.Context) (encodedPage, error)) (encodedPage, bool, error) {
	for {
		shared := true // a variable, not a named result: the read may set it after a canceled request has returned
		result := r.group.DoChan(fmt.Sprint(what), func() (any, error) {
			shared = false
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), edge.RequestTime)
			defer cancel()
			got := readResult{began: r.begun.Add(1)}
			got.page, got.err = recovered(ctx, read)
			return got, nil
		})
		select {
		case one := <-result:
			if got := one.Val.(readResult); got.began > before {
				return got.page, shared, got.err
			}
		case <-ctx.Done():
			return encodedPage{}, false, fault.Down("read a page", ctx.Err())
		}
	}
}

// recovered turns a panic into an error: the read has its own goroutine, where a panic would end the whole service.
func recovered(ctx context.Context, read func(context.Context) (encodedPage, error)) (page encodedPage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the read panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return read(ctx)
}
