// Package watch pushes pages of boards to those who watch them. It looks at each watched guild once every half second for all watchers, and
// reads only what changed. It knows no HTTP.
package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// defaultInterval is how often a guild is looked at, and so how often a page changes for its watchers.
	defaultInterval = 500 * time.Millisecond
	// defaultWatchers is how many watch at the same time; one more is refused. A watcher holds no page of its own.
	defaultWatchers = 1000
	// maxPages is how many pages of one guild are watched at the same time.
	maxPages = 5 * leaderboard.MaxViewPages
	// looksAtOnce is how many guilds are looked at side by side, so that one that is being loaded does not hold up the others.
	looksAtOnce = 8
	// lookTime bounds one look.
	lookTime = 2 * time.Second
)

// Errors that end a Watcher.
var (
	errClosed = errors.New("the service stops")
	errMoved  = errors.New("the guild was deleted, or deleted and created again")
	errEnded  = errors.New("the period has ended")
)

// errFull is what one watcher too many gets.
var errFull = &fault.Error{
	Code:       fault.Unavailable,
	Message:    "Too many people watch at the moment. Read the page again from time to time instead.",
	RetryAfter: 30 * time.Second,
}

// Board reads boards (package leaderboard).
type Board interface {
	View(ctx context.Context, g *guild.Guild, look leaderboard.Look) (leaderboard.View, error)
	leaderboard.PeriodReader
}

// FeedOptions configure a Feed; the zero value will do.
type FeedOptions struct {
	Interval time.Duration    // how often a guild is looked at; default 500 ms
	Watchers int              // how many watch at the same time; 0 is 1,000
	Log      *slog.Logger     // nil discards
	Now      func() time.Time // says when a period ends; nil is time.Now
	// Guild reads a guild as it is now: who watches for hours must not look with the settings of then. nil keeps these.
	Guild func(ctx context.Context, g id.Guild) (*guild.Guild, error)
}

// Feed is what everybody watches. It is safe for concurrent use.
type Feed struct {
	board Board
	o     FeedOptions
	wake  chan struct{} // holds one when a guild was added

	mu       sync.Mutex
	closed   bool
	failing  bool // the last look at some guild failed, and that was logged
	watchers int
	guilds   map[leaderboard.GuildRef]*watched // by refOf
}

// refOf names a guild for all who watch it, whatever they knew of who is hidden.
func refOf(g *guild.Guild) leaderboard.GuildRef {
	return leaderboard.GuildRef{ID: g.ID, Incarnation: g.Incarnation}
}

// watched is a guild that somebody watches.
type watched struct {
	guild *guild.Guild
	// version is what all pages that were read are of, or of what came after; nil when one was not read yet.
	version *leaderboard.Version
	pages   map[target]*page
}

// target is a page that can be watched, by the number that was asked for.
type target struct {
	period period.Period // the zero value is all time
	number int64
}

// page is one that somebody watches.
type page struct {
	newest   State
	changes  int           // how often newest became another one; 0 until it was read
	changed  chan struct{} // closed, and replaced, by each change
	watchers map[*Watcher]struct{}
}

// NewFeed returns a Feed that shows nothing until Run.
func NewFeed(board Board, o FeedOptions) *Feed {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Interval, o.Watchers = cmp.Or(o.Interval, defaultInterval), cmp.Or(o.Watchers, defaultWatchers)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Feed{board: board, o: o, wake: make(chan struct{}, 1), guilds: map[leaderboard.GuildRef]*watched{}}
}

// Run looks at what is watched until ctx ends, and closes the Feed then. While nobody watches it does nothing.
func (f *Feed) Run(ctx context.Context) {
	defer f.Close()
	timer := time.NewTimer(f.o.Interval)
	defer timer.Stop()
	for ctx.Err() == nil {
		guilds := f.watchedGuilds()
		if len(guilds) == 0 {
			select {
			case <-f.wake:
			case <-ctx.Done():
			}
			continue
		}
		timer.Reset(f.o.Interval)
		var looks errgroup.Group
		looks.SetLimit(looksAtOnce)
		for _, ref := range guilds {
			looks.Go(func() error {
				f.look(ctx, ref)
				return nil
			})
		}
		_ = looks.Wait()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

func (f *Feed) watchedGuilds() []leaderboard.GuildRef {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.guilds))
}

// Watch watches a page of a guild, by its number from 1; one past the last stands for the last. It is of a running period, whose end ends the
// Watcher, or, with the zero Period, of all time. An Unavailable fault when too many watch, or the service stops. Leave the Watcher at the end.
func (f *Feed) Watch(g *guild.Guild, p period.Period, number int64) (*Watcher, error) {
	at := target{p, number}
	ref := refOf(g)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, fault.Down("watch a page", errClosed)
	}
	of, known := f.guilds[ref]
	if !known {
		of = &watched{guild: g, pages: map[target]*page{}}
	}
	watchedPage, read := of.pages[at]
	if f.watchers >= f.o.Watchers || !read && len(of.pages) >= maxPages {
		return nil, errFull
	}
	if !read {
		watchedPage = &page{changed: make(chan struct{}), watchers: map[*Watcher]struct{}{}}
		of.pages[at], of.version = watchedPage, nil
	}
	v := &Watcher{feed: f, guild: ref, target: at, page: watchedPage, gone: make(chan struct{})}
	watchedPage.watchers[v] = struct{}{}
	f.watchers++
	if !known {
		f.guilds[ref] = of
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
	return v, nil
}

// drop ends a watcher, for a reason, if it has not ended. f.mu is held.
func (f *Feed) drop(v *Watcher, reason error) {
	if _, there := v.page.watchers[v]; !there {
		return
	}
	delete(v.page.watchers, v)
	f.watchers--
	if of := f.guilds[v.guild]; len(v.page.watchers) == 0 {
		delete(of.pages, v.target)
		if len(of.pages) == 0 {
			delete(f.guilds, v.guild)
		}
	}
	v.reason = reason
	close(v.gone)
}

// Close ends all watchers and lets nobody watch any more.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, of := range f.guilds {
		of.end(f, errClosed, func(target) bool { return true })
	}
}

// end drops all who watch some pages of the guild. f.mu is held.
func (of *watched) end(f *Feed, reason error, which func(target) bool) {
	for at, p := range of.pages {
		if !which(at) {
			continue
		}
		for v := range p.watchers {
			f.drop(v, reason)
		}
	}
}
