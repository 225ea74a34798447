package watch

import (
	"context"

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
// when ctx ends, after which it can be called again, and with ErrMoved or ErrClosed.
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
