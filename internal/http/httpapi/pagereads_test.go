package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/leaderboard"
)

// A read continues when the request that began it leaves, and serves the requests that wait for it.
func TestAReadOutlivesItsFirstRequest(t *testing.T) {
	r, let := &pageReads{}, make(chan struct{})
	read := func(ctx context.Context) (encodedPage, error) {
		<-let
		return encodedPage{body: []byte("page")}, ctx.Err()
	}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, _, err := r.after(ctx, 0, pageRead{}, read)
		left <- err
	}()
	for r.begun.Load() == 0 {
		runtime.Gosched()
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the request that left got %v, want context.Canceled", err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			page, _, err := r.after(t.Context(), 0, pageRead{}, read)
			if err != nil || string(page.body) != "page" {
				t.Errorf("the waiting request got %q (%v), want page", page.body, err)
			}
		})
	}
	other, shared, err := r.after(t.Context(), 0, pageRead{settings: 1}, func(context.Context) (encodedPage, error) { return encodedPage{etag: "other"}, nil })
	if err != nil || shared || other.etag != "other" {
		t.Errorf("a read of another page is %+v, shared %v (%v), want its own", other, shared, err)
	}
	close(let)
	all.Wait()
}

// A read that began before the request may be stale.
func TestAnEarlierReadIsNotShared(t *testing.T) {
	r, let := &pageReads{}, make(chan struct{})
	read := func(etag string) func(context.Context) (encodedPage, error) {
		return func(context.Context) (encodedPage, error) {
			<-let
			return encodedPage{etag: etag}, nil
		}
	}
	var all sync.WaitGroup
	all.Go(func() { _, _, _ = r.after(t.Context(), 0, pageRead{}, read("early")) })
	for r.begun.Load() == 0 {
		runtime.Gosched()
	}
	all.Go(func() {
		if page, shared, err := r.after(t.Context(), 1, pageRead{}, read("late")); err != nil || shared || page.etag != "late" {
			t.Errorf("the request got %+v, shared %v (%v), want its own read", page, shared, err)
		}
	})
	close(let)
	all.Wait()
}

func TestAReadThatPanicsIsAnError(t *testing.T) {
	r := &pageReads{}
	_, _, err := r.after(t.Context(), 0, pageRead{}, func(context.Context) (encodedPage, error) { panic("broken page") })
	if err == nil || !strings.Contains(err.Error(), "broken page") {
		t.Errorf("the panicking read returned %v, want an error with \"broken page\"", err)
	}
	page, shared, err := r.after(t.Context(), 1, pageRead{}, func(context.Context) (encodedPage, error) { return encodedPage{etag: "good"}, nil })
	if err != nil || shared || page.etag != "good" {
		t.Errorf("the next read is %+v, shared %v (%v), want good", page, shared, err)
	}
}

// movingBoard has a page of the current rev. Its first read is held up.
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

// A request that finds a read from before a change which it must show waits for the next read.
func TestNoRequestGetsAPageOlderThanItself(t *testing.T) {
	board := &movingBoard{let: make(chan struct{})}
	board.rev.Store(1)
	a := &api{deps: Deps{Board: board}, pages: newPageCache(1 << 20)}
	g := &guild.Guild{Incarnation: 1, Version: 1}
	name := pageName{number: 1}
	get := func(least int64) (encodedPage, error) {
		page, _, err := a.currentPage(t.Context(), g, name, nil)
		if err == nil && page.version.Rev < least {
			t.Errorf("a request that saw rev %d got a page of rev %d", least, page.version.Rev)
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
		t.Errorf("there were %d reads, want 2 to 21", n)
	}
	if kept, ok := a.pages.get(name); !ok || kept.version.Rev != 2 {
		t.Errorf("the cache keeps rev %d, want 2", kept.version.Rev)
	}
}

// busyBoard changes a member outside the page before each read. The page's members change when rows is raised.
type busyBoard struct {
	Board
	rev, rows int64
}

func (b *busyBoard) Version(context.Context, *guild.Guild) (leaderboard.Version, error) {
	b.rev++
	return leaderboard.Version{Epoch: 1, Rev: b.rev}, nil
}

func (b *busyBoard) Page(_ context.Context, _ *guild.Guild, _ int64) (leaderboard.Page, error) {
	b.rev++
	page := leaderboard.Page{Version: leaderboard.Version{Epoch: 1, Rev: b.rev}}
	for range 100 {
		page.Rows = append(page.Rows, leaderboard.Ranked{Rank: b.rows})
	}
	return page, nil
}

// A page whose members do not change, on a board that changes all the time, is packed once and sent with the ETag of each version.
func TestUnchangedRowsArePackedOnce(t *testing.T) {
	board := &busyBoard{}
	a := &api{deps: Deps{Board: board}, pages: newPageCache(1 << 20)}
	g := &guild.Guild{Incarnation: 1, Version: 1}
	name := pageName{number: 7}
	get := func() encodedPage {
		t.Helper()
		page, _, err := a.currentPage(t.Context(), g, name, nil)
		if err != nil || len(page.body) == 0 {
			t.Fatalf("the page has %d bytes (%v), want some", len(page.body), err)
		}
		return page
	}
	first := get()
	second := get()
	if second.etag == first.etag {
		t.Errorf("another version with the same rows has the same ETag %s", first.etag)
	}
	if kept, _ := a.pages.get(name); kept.etag != second.etag {
		t.Errorf("the cache keeps the ETag %s, want %s", kept.etag, second.etag)
	}
	second.packed = a.packer.TryPack(second.body)
	a.pages.pack(name, second)
	if third := get(); len(third.packed) == 0 || &third.packed[0] != &second.packed[0] || third.etag == second.etag {
		t.Error("the same rows were packed again, or kept their ETag")
	}
	r, err := gzip.NewReader(bytes.NewReader(second.packed))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(r); err != nil || !bytes.Equal(body, first.body) {
		t.Errorf("the packed page unpacks to %d bytes (%v), want the page", len(body), err)
	}
	board.rows++
	if changed := get(); changed.packed != nil || bytes.Equal(changed.body, first.body) {
		t.Error("changed rows are sent as the unchanged ones")
	}
}
