package events

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// defaultInterval is how often the logs are read.
	defaultInterval = 100 * time.Millisecond
	// readTime bounds one read.
	readTime = 2 * time.Second
	// readAtOnce is how many entries of a guild one read returns, and guildsAtOnce from how many guilds.
	readAtOnce   = 500
	guildsAtOnce = 100
)

// Errors that end a Follower.
var (
	errClosed = errors.New("the service stops")
	ErrSlow   = errors.New("the follower is too slow")
)

// Board loads a guild into the live store, which holds its log.
type Board interface {
	Version(ctx context.Context, g *guild.Guild) (leaderboard.Version, error)
}

// FeedOptions configure a Feed.
type FeedOptions struct {
	interval time.Duration // how often the logs are read; 0: 100 ms
	Log      *slog.Logger
	// Used is called with each followed guild at each read of its log. It must not block.
	Used func(g id.Guild)
}

// Feed reads the log of each followed guild once, and passes its events to all followers. It is safe for concurrent use.
type Feed struct {
	log     Log
	board   Board
	o       FeedOptions
	wake    chan struct{}   // holds one after a guild was added
	open    context.Context // ends with Close
	close   context.CancelFunc
	failing bool // of Run

	mu     sync.Mutex
	guilds map[leaderboard.GuildRef]*followed
}

// followed is a guild with followers.
type followed struct {
	followers int    // guarded by Feed.mu
	tail      *batch // the batch that the next read fills; guarded by Feed.mu
	filled    atomic.Int64
}

// batch is what one read found in a log. Each follower walks from one batch to the next at its own pace.
type batch struct {
	number int64 // how many batches of the guild were filled before
	after  ID    // the entries after this position are in this batch or the next ones
	filled chan struct{}

	entries []Entry // set when filled is closed, like next
	next    *batch
}

// NewFeed returns a Feed that delivers nothing until Run.
func NewFeed(log Log, board Board, o FeedOptions) *Feed {
	o.interval = cmp.Or(o.interval, defaultInterval)
	f := &Feed{log: log, board: board, o: o, wake: make(chan struct{}, 1), guilds: map[leaderboard.GuildRef]*followed{}}
	f.open, f.close = context.WithCancel(context.Background())
	return f
}

// Close ends all followers and allows no new ones.
func (f *Feed) Close() { f.close() }

// Closed returns a channel that Close closes.
func (f *Feed) Closed() <-chan struct{} { return f.open.Done() }

// Run reads the logs of followed guilds until ctx ends, and then closes the Feed. After an error it retries at the next read.
func (f *Feed) Run(ctx context.Context) {
	defer f.Close()
	ticker := time.NewTicker(f.o.interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		places := f.places()
		if len(places) == 0 {
			select {
			case <-f.wake:
			case <-ctx.Done():
			}
			continue
		}
		full, unread := false, error(nil)
		for part := range slices.Chunk(places, guildsAtOnce) {
			more, err := f.look(ctx, part)
			full, unread = more || full, cmp.Or(unread, err)
		}
		if unread != nil && !f.failing && ctx.Err() == nil {
			f.o.Log.Warn("events cannot be read; they are sent when Redis responds again", "error", unread)
		}
		f.failing = unread != nil
		if full {
			continue
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// place is the position up to which a followed guild's log was read.
type place struct {
	Cursor
	of *followed
}

func (f *Feed) places() []place {
	f.mu.Lock()
	defer f.mu.Unlock()
	places := make([]place, 0, len(f.guilds))
	for ref, of := range f.guilds {
		places = append(places, place{Cursor{ref, of.tail.after}, of})
	}
	return places
}

// look reads the entries after the places, and reports whether there may be more. After an error, places that were not read stay.
func (f *Feed) look(ctx context.Context, places []place) (full bool, err error) {
	cursors := make([]Cursor, len(places))
	for i, p := range places {
		f.o.Used(p.Guild.ID)
		cursors[i] = p.Cursor
	}
	readCtx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	read, err := f.log.ReadEvents(readCtx, cursors, readAtOnce)
	for i, entries := range read {
		if len(entries) > 0 {
			f.handOut(places[i], entries)
			full = full || len(entries) == readAtOnce
		}
	}
	return full, err
}

// handOut fills the guild's batch and starts the next one.
func (f *Feed) handOut(p place, entries []Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	full := p.of.tail
	p.of.tail = &batch{number: p.of.filled.Add(1), after: entries[len(entries)-1].ID, filled: make(chan struct{})}
	full.entries, full.next = entries, p.of.tail
	close(full.filled)
}

// Follow loads the guild and follows it from after, or from now if after is nil. Its errors are faults. Call Leave on the Follower at the end.
func (f *Feed) Follow(ctx context.Context, g *guild.Guild, after *ID) (*Follower, error) {
	if f.open.Err() != nil {
		return nil, fault.Down("follow events", errClosed)
	}
	if _, err := f.board.Version(ctx, g); err != nil {
		return nil, err
	}
	ref := leaderboard.Ref(g)
	extent, err := f.log.Extent(ctx, ref)
	if err != nil {
		return nil, fault.Down("look into the log of events", err)
	}
	follower := &Follower{feed: f, guild: ref, at: extent.end()}
	switch {
	case after == nil:
	case !extent.misses(*after):
		if after.Compare(follower.at) < 0 { // after may be ahead of the log
			follower.at = *after
		}
	default:
		follower.missed = true
		if extent.Count > 0 {
			follower.at = extent.Oldest.before()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if follower.of = f.guilds[ref]; follower.of == nil {
		follower.of = &followed{tail: &batch{after: extent.end(), filled: make(chan struct{})}}
		f.guilds[ref] = follower.of
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
	follower.of.followers++
	return follower, nil
}
