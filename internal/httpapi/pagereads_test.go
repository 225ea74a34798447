package httpapi

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"levelboard/internal/guild"
	"levelboard/internal/leaderboard"
)

func newPageReads() *pageReads { return &pageReads{underway: map[pageRead]*sharedRead{}} }

func (r *pageReads) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.underway)
}

// The read goes on when who began it leaves, and whoever waits for it gets its page.
func TestWhoBeganAReadMayLeave(t *testing.T) {
	r, let := newPageReads(), make(chan struct{})
	var reads atomic.Int64
	read := func(ctx context.Context) (encodedPage, error) {
		reads.Add(1)
		<-let
		return encodedPage{body: []byte("page")}, ctx.Err()
	}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, _, err := r.do(ctx, pageRead{}, read)
		left <- err
	}()
	for reads.Load() == 0 {
		runtime.Gosched()
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			page, shared, err := r.do(t.Context(), pageRead{}, read)
			if err != nil || string(page.body) != "page" {
				t.Errorf("%q, shared: %v, %v", page.body, shared, err)
			}
		})
	}
	other, shared, err := r.do(t.Context(), pageRead{settings: 1}, func(context.Context) (encodedPage, error) { return encodedPage{etag: "other"}, nil })
	if err != nil || shared || other.etag != "other" {
		t.Errorf("a read of another page: %+v, shared: %v, %v", other, shared, err)
	}
	close(let)
	all.Wait()
	for r.count() > 0 {
		runtime.Gosched()
	}
}

func TestAReadThatPanicsIsAnError(t *testing.T) {
	r := newPageReads()
	_, _, err := r.do(t.Context(), pageRead{}, func(context.Context) (encodedPage, error) { panic("broken page") })
	if err == nil || !strings.Contains(err.Error(), "broken page") {
		t.Errorf("the error is %v", err)
	}
	_, _, err = r.do(t.Context(), pageRead{}, func(context.Context) (encodedPage, error) {
		runtime.Goexit()
		return encodedPage{}, nil
	})
	if !errors.Is(err, errReadEnded) {
		t.Errorf("the error of a read that ended is %v", err)
	}
	page, shared, err := r.do(t.Context(), pageRead{}, func(context.Context) (encodedPage, error) { return encodedPage{etag: "good"}, nil })
	if err != nil || shared || page.etag != "good" {
		t.Errorf("the next read: %+v, shared: %v, %v", page, shared, err)
	}
}

// movingBoard has a page of the present rev, whose first read is held up.
type movingBoard struct {
	Board
	rev      atomic.Int64
	reads    atomic.Int64
	let      chan struct{}
	versions atomic.Int64
}

func (b *movingBoard) Version(context.Context, *guild.Guild) (leaderboard.Version, error) {
	b.versions.Add(1)
	return leaderboard.Version{Epoch: 1, Rev: b.rev.Load()}, nil
}

func (b *movingBoard) Page(context.Context, *guild.Guild, int64) (leaderboard.Page, error) {
	page := leaderboard.Page{Version: leaderboard.Version{Epoch: 1, Rev: b.rev.Load()}}
	if b.reads.Add(1) == 1 {
		<-b.let
	}
	return page, nil
}

// A request that finds a read which began before a change that it has to show takes the next one.
func TestNoRequestTakesAPageOlderThanItself(t *testing.T) {
	board := &movingBoard{let: make(chan struct{})}
	board.rev.Store(1)
	a := &API{deps: Deps{Board: board}, pages: newPageCache(1 << 20), reads: pageReads{underway: map[pageRead]*sharedRead{}}}
	g := &guild.Guild{Incarnation: 1, Version: 1}
	name := pageName{number: 1}
	get := func(least int64) (encodedPage, error) {
		page, _, err := a.currentPage(t.Context(), g, name, nil)
		if err == nil && page.version.Rev < least {
			t.Errorf("a page of rev %d for a request that saw %d", page.version.Rev, least)
		}
		return page, err
	}
	var all sync.WaitGroup
	all.Go(func() { _, _ = get(1) })
	for board.reads.Load() == 0 {
		runtime.Gosched()
	}
	board.rev.Store(2)
	for range 20 {
		all.Go(func() {
			if _, err := get(2); err != nil {
				t.Error(err)
			}
		})
	}
	close(board.let)
	all.Wait()
	if n := board.reads.Load(); n < 2 || n > 21 {
		t.Errorf("%d reads", n)
	}
	if kept, ok := a.pages.get(name); !ok || kept.version.Rev != 2 {
		t.Errorf("kept is rev %d", kept.version.Rev)
	}
}
