// Package watch shows pages of boards as they change. Each watched page is read every half second,
// once for all its watchers; its rows are read only if the guild has changed. It knows no HTTP.
package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// defaultInterval is how often a page is read, and so how soon its watchers see a change.
	defaultInterval = 500 * time.Millisecond
	// readTime bounds one read.
	readTime = 2 * time.Second
)

// Errors that end a Watcher.
var (
	errClosed = errors.New("the service stops")
	errMoved  = errors.New("the guild was deleted, or deleted and created again")
	errEnded  = errors.New("the period has ended")
)

// Board reads boards (package leaderboard).
type Board interface {
	View(ctx context.Context, g *guild.Guild, look leaderboard.Look) (leaderboard.View, error)
	leaderboard.PeriodReader
}

// FeedOptions configure a Feed.
type FeedOptions struct {
	Interval time.Duration // how often a page is read; 0: 500 ms
	Log      *slog.Logger
	Now      func() time.Time // decides when a period has ended
	// Guild returns the guild as it is now, with the newest flags of hidden users: a page may be watched for hours.
	Guild func(ctx context.Context, g id.Guild) (*guild.Guild, error)
}

// Feed holds the watched pages. It is safe for concurrent use.
type Feed struct {
	board   Board
	o       FeedOptions
	open    context.Context // ends with Close
	close   context.CancelFunc
	failing atomic.Bool // the last read failed, which was logged

	mu    sync.Mutex
	pages map[target]*page
}

// target identifies a page by the number that the watcher gave.
type target struct {
	guild       id.Guild
	incarnation guild.Incarnation
	period      period.Period // the zero value means all time
	number      int64
}

// page is a watched page. Only the holder of turn may use the fields below it.
type page struct {
	watchers int // guarded by Feed.mu

	turn    chan struct{} // a mutex, as a channel so that waiting callers can give up
	guild   *guild.Guild  // as the last read found it
	due     time.Time     // when the next read is due
	newest  State
	changes int   // how often newest has changed; 0 until the first read
	ended   error // why the page is no longer read
}

// State is a page at one moment. All watchers share Rows: do not change them.
type State struct {
	Version leaderboard.Version
	Total   int64 // members on the board
	Gained  int64 // by all members, in the period
	Number  int64 // of the page
	Rows    []leaderboard.Standing
}

// AllTime turns a view into the state of its page.
func AllTime(v leaderboard.View) State {
	return State{Version: v.Version, Total: v.Total, Number: v.Number, Rows: leaderboard.WithoutGains(v.Rows)}
}

// Running reads a page of a running period. If number is past the last page, it reads the last.
func Running(ctx context.Context, board leaderboard.PeriodReader, g *guild.Guild, p period.Period, number int64) (State, error) {
	found, number, err := leaderboard.PeriodPage(ctx, board, g, p, number)
	return State{Version: found.Version, Total: found.Members, Gained: found.Gained, Number: number, Rows: found.Rows}, err
}

// NewFeed returns a Feed without watchers.
func NewFeed(board Board, o FeedOptions) *Feed {
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	f := &Feed{board: board, o: o, pages: map[target]*page{}}
	f.open, f.close = context.WithCancel(context.Background())
	return f
}

// Close ends all watchers and allows no new ones.
func (f *Feed) Close() { f.close() }

// Closed returns a channel that Close closes.
func (f *Feed) Closed() <-chan struct{} { return f.open.Done() }

// Watcher watches a page. Next is for one goroutine.
type Watcher struct {
	feed   *Feed
	target target
	page   *page
	seen   int // page.changes at the last result of Next
}

// Watch watches a page of a guild by its number, from 1; past the last page it is the last one. p is a running period, whose end also ends
// the Watcher, or the zero Period for all time. When the service stops it returns an Unavailable fault. Call Leave on the Watcher at the end.
func (f *Feed) Watch(g *guild.Guild, p period.Period, number int64) (*Watcher, error) {
	if f.open.Err() != nil {
		return nil, fault.Down("watch a page", errClosed)
	}
	v := &Watcher{feed: f, target: target{g.ID, g.Incarnation, p, number}}
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.page = f.pages[v.target]; v.page == nil {
		v.page = &page{guild: g, turn: make(chan struct{}, 1)}
		f.pages[v.target] = v.page
	}
	v.page.watchers++
	return v, nil
}

// Leave ends the Watcher.
func (v *Watcher) Leave() {
	v.feed.mu.Lock()
	defer v.feed.mu.Unlock()
	if v.page.watchers--; v.page.watchers == 0 {
		delete(v.feed.pages, v.target)
	}
}

// Next waits until the page differs from its last result, and returns the newest state; a slow watcher misses states in between. It
// fails when the guild is deleted, the period ends or the feed is closed. It also fails when ctx ends; then Next can be called again.
func (v *Watcher) Next(ctx context.Context) (State, error) {
	for {
		select {
		case v.page.turn <- struct{}{}:
		case <-ctx.Done():
			return State{}, ctx.Err()
		}
		v.feed.look(v.target, v.page)
		newest, changes, ended, due := v.page.newest, v.page.changes, v.page.ended, v.page.due
		<-v.page.turn
		switch {
		case v.feed.open.Err() != nil:
			return State{}, errClosed
		case ended != nil:
			return State{}, ended
		case changes != v.seen:
			v.seen = changes
			return newest, nil
		}
		select {
		case <-time.After(time.Until(due)):
		case <-v.feed.Closed():
		case <-ctx.Done():
			return State{}, ctx.Err()
		}
	}
}

// look reads the page if that is due. The caller must have its turn. After a failure the next read covers this one.
func (f *Feed) look(at target, p *page) {
	if time.Now().Before(p.due) || p.ended != nil {
		return
	}
	p.due = time.Now().Add(f.o.Interval)
	ctx, cancel := context.WithTimeout(f.open, readTime) // not a watcher's context: it may leave while others wait
	defer cancel()
	p.guild = f.current(ctx, p.guild)
	if _, ends := at.period.Bounds(p.guild.Calendar().Zone); at.period.ID != "" && !f.o.Now().Before(ends) {
		p.ended = errEnded
		return
	}
	newest, err := f.read(ctx, at, p)
	switch {
	case err == nil:
		f.failing.Store(false)
		p.show(newest)
	case errors.Is(err, leaderboard.ErrGuildMoved):
		p.ended = errMoved
	case f.open.Err() == nil && !f.failing.Swap(true):
		f.o.Log.Warn("watched pages cannot be read; they continue when the stores respond again", "error", err)
	}
}

// current returns a watched guild as it is now. It has the newest number of hidden flags, so that the next read copies flags that Redis lacks.
func (f *Feed) current(ctx context.Context, g *guild.Guild) *guild.Guild {
	ctx, cancel := context.WithTimeout(ctx, readTime/4) // if the archive is silent, this leaves time for the read
	defer cancel()
	now, err := f.o.Guild(ctx, g.ID)
	if err != nil || now.Incarnation != g.Incarnation {
		return g // the read itself finds out what is wrong
	}
	return now
}

func (f *Feed) read(ctx context.Context, at target, p *page) (State, error) {
	var look leaderboard.Look
	if at.period.ID == "" {
		look.Page = at.number
	}
	if p.changes > 0 {
		look.Unless = &p.newest.Version
	}
	v, err := f.board.View(ctx, p.guild, look)
	switch {
	case err != nil || v.Unchanged:
		return p.newest, err
	case at.period.ID != "":
		return Running(ctx, f.board, p.guild, at.period, at.number)
	}
	return AllTime(v), nil
}

// show makes s the newest state. It wakes the watchers only if the page itself has changed.
func (p *page) show(s State) {
	same := s
	same.Version = p.newest.Version
	if p.changes == 0 || !reflect.DeepEqual(same, p.newest) {
		p.changes++
	}
	p.newest = s
}
