package watch

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"levelboard/internal/usecase/leaderboard"
)

// Watcher is one who watches a page. Next is for one goroutine.
type Watcher struct {
	feed   *Feed
	guild  leaderboard.GuildRef
	number int64
	page   *page
	seen   int // page.changes of what Next returned last

	gone   chan struct{} // closed by the feed
	reason error         // once gone
}

// Next waits until the page differs from what it returned last, and returns the newest; a slow watcher misses what was in between. It fails
// when ctx ends, after which it can be called again, when the guild is deleted, and when the feed is closed.
func (v *Watcher) Next(ctx context.Context) (State, error) {
	for {
		v.feed.mu.Lock()
		newest, changes, changed := v.page.newest, v.page.changes, v.page.changed
		v.feed.mu.Unlock()
		select {
		case <-v.gone:
			return State{}, v.reason
		default:
		}
		if changes != v.seen {
			v.seen = changes
			return newest, nil
		}
		select {
		case <-changed:
		case <-v.gone:
		case <-ctx.Done():
			return State{}, ctx.Err()
		}
	}
}

// Gone is closed when the feed has ended the watcher.
func (v *Watcher) Gone() <-chan struct{} { return v.gone }

// Leave ends the watching. It may be called more than once.
func (v *Watcher) Leave() {
	v.feed.mu.Lock()
	defer v.feed.mu.Unlock()
	v.feed.drop(v, context.Canceled)
}

// State is a page as it was at a moment. Rows are shared by all who watch; nobody may change them.
type State struct {
	Version leaderboard.Version
	Total   int64 // members with an entry
	leaderboard.NumberedPage
}

// look reads the pages of a guild that are watched, if the guild has changed. A look that failed is made up for by the next.
func (f *Feed) look(ctx context.Context, ref leaderboard.GuildRef) {
	f.mu.Lock()
	of := f.guilds[ref]
	if of == nil {
		f.mu.Unlock()
		return
	}
	g, known, numbers := of.guild, of.version, slices.Sorted(maps.Keys(of.pages))
	f.mu.Unlock()

	lookCtx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var first *leaderboard.Version
	for part := range slices.Chunk(numbers, leaderboard.MaxViewPages) {
		v, err := f.board.View(lookCtx, g, leaderboard.Look{Pages: part, Unless: known})
		f.mu.Lock()
		f.took(ctx, of, err)
		if err != nil || v.Unchanged {
			f.mu.Unlock()
			return
		}
		if first == nil {
			// Of the pages that are read after these, some may be newer: then the next look finds another version.
			first = &v.Version
			of.version = first
		}
		for i, number := range part {
			if p := of.pages[number]; p != nil {
				p.show(State{v.Version, v.Total, v.Pages[i]})
			}
		}
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range of.pages {
		if p.changes == 0 { // it was added meanwhile
			of.version = nil
		}
	}
}

// took notes how a look went, in the context of Run. f.mu is held.
func (f *Feed) took(ctx context.Context, of *watched, err error) {
	switch {
	case err == nil:
		f.failing = false
	case errors.Is(err, leaderboard.ErrGuildMoved):
		of.end(f, errMoved)
	default:
		of.version = nil // of several parts, some were not read
		if !f.failing && ctx.Err() == nil {
			f.o.Log.Warn("watched pages cannot be read; they continue when the stores respond again", "error", err)
			f.failing = true
		}
	}
}

// show makes s the newest state. A change of the guild that does not show on the page wakes nobody.
func (p *page) show(s State) {
	same := p.changes > 0 && s.Total == p.newest.Total && s.Number == p.newest.Number && reflect.DeepEqual(s.Rows, p.newest.Rows)
	p.newest = s
	if same {
		return
	}
	p.changes++
	close(p.changed)
	p.changed = make(chan struct{})
}
