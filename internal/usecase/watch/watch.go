// Package watch shows pages of boards as they change. A page is read once every half second for all who watch it, and its rows only if its
// guild has changed. It knows no HTTP.
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
	// defaultInterval is how often a page is read, and so how often it changes for its watchers.
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
	Interval time.Duration // how often a page is read; 0 is 500 ms
	Log      *slog.Logger
	Now      func() time.Time // says when a period ends
	// Guild reads a guild as it is now, with the newest flags of hidden users: some watch for hours.
	Guild func(ctx context.Context, g id.Guild) (*guild.Guild, error)
}

// Feed has the pages that are watched. It is safe for concurrent use.
type Feed struct {
	board   Board
	o       FeedOptions
	open    context.Context // ends with Close
	close   context.CancelFunc
	failing atomic.Bool // the last read failed, and that was logged

	mu    sync.Mutex
	pages map[target]*page
}

// target names a page by the number that was asked for.
type target struct {
	guild       id.Guild
	incarnation guild.Incarnation
	period      period.Period // the zero value is all time
	number      int64
}

// page is one that somebody watches. Whoever has its turn may use what stands below it.
type page struct {
	watchers int // under Feed.mu

	turn    chan struct{} // holds one while somebody has it
	guild   *guild.Guild  // as of the last read
	due     time.Time     // of the next read
	newest  State
	changes int   // how often newest became another one; 0 until it was read
	ended   error // why nothing is read any more
}

// State is a page as it was at a moment. Rows are shared by all who watch; nobody may change them.
type State struct {
	Version leaderboard.Version
	Total   int64 // members on the board
	Gained  int64 // by all of them, in the period
	Number  int64 // of the page
	Rows    []leaderboard.Standing
}

// AllTime is the page of a view.
func AllTime(v leaderboard.View) State {
	return State{Version: v.Version, Total: v.Total, Number: v.Number, Rows: leaderboard.WithoutGains(v.Rows)}
}

// Running reads a page of a running period; a number past the last stands for the last.
func Running(ctx context.Context, board leaderboard.PeriodReader, g *guild.Guild, p period.Period, number int64) (State, error) {
	found, number, err := leaderboard.PeriodPage(ctx, board, g, p, number)
	return State{Version: found.Version, Total: found.Members, Gained: found.Gained, Number: number, Rows: found.Rows}, err
}

// NewFeed returns a Feed that nobody watches.
func NewFeed(board Board, o FeedOptions) *Feed {
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	f := &Feed{board: board, o: o, pages: map[target]*page{}}
	f.open, f.close = context.WithCancel(context.Background())
	return f
}

// Close ends all watchers and lets nobody watch any more.
func (f *Feed) Close() { f.close() }

// Closed is closed by Close.
func (f *Feed) Closed() <-chan struct{} { return f.open.Done() }

// Watcher is one who watches a page. Next is for one goroutine.
type Watcher struct {
	feed   *Feed
	target target
	page   *page
	seen   int // page.changes of what Next returned last
}

// Watch watches a page of a guild, by its number from 1; one past the last stands for the last. It is of a running period, whose end ends the
// Watcher, or, with the zero Period, of all time. An Unavailable fault when the service stops. Leave the Watcher at the end.
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

// Leave ends the watching.
func (v *Watcher) Leave() {
	v.feed.mu.Lock()
	defer v.feed.mu.Unlock()
	if v.page.watchers--; v.page.watchers == 0 {
		delete(v.feed.pages, v.target)
	}
}

// Next waits until the page differs from what it returned last, and returns the newest; a slow watcher misses what was in between. It fails
// when ctx ends, after which it can be called again, when the guild is deleted, when the period ends, and when the feed is closed.
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

// look reads a page that is due, in its turn. A read that failed is made up for by the next.
func (f *Feed) look(at target, p *page) {
	if time.Now().Before(p.due) || p.ended != nil {
		return
	}
	p.due = time.Now().Add(f.o.Interval)
	ctx, cancel := context.WithTimeout(f.open, readTime) // of no watcher, who may leave while others wait
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

// current is a watched guild as it is now. A read that knows of newer flags of hidden users copies them, if whoever set them could not.
func (f *Feed) current(ctx context.Context, g *guild.Guild) *guild.Guild {
	ctx, cancel := context.WithTimeout(ctx, readTime/4) // an archive that is silent leaves time to read
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

// show makes s the newest state. A change of the guild that does not show on the page wakes nobody.
func (p *page) show(s State) {
	same := s
	same.Version = p.newest.Version
	if p.changes == 0 || !reflect.DeepEqual(same, p.newest) {
		p.changes++
	}
	p.newest = s
}
