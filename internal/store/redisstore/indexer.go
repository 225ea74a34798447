package redisstore

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// indexTime is how long a change waits at most for its guild to be put into the index, which on a cluster is often another
// node's: that one's failure must not hold up the rest.
const indexTime = 50 * time.Millisecond

// indexed is the command that puts guilds into the index, by the time, unless they are there: so they come out of it in about the order in
// which they changed first.
func indexed(ctx context.Context, guilds []any) *redis.IntCmd {
	words, now := append(make([]any, 0, 3+2*len(guilds)), "zadd", changedKey, "nx"), time.Now().UnixMilli()
	for _, g := range guilds {
		words = append(words, now, g)
	}
	return redis.NewIntCmd(ctx, words...)
}

// indexer puts guilds into the index of those with changes that wait for a snapshot. A failure is nobody's: the changes are
// made, and the snapshot writer's sweep finds their guilds.
type indexer struct {
	add func(ctx context.Context, guilds []any) error

	mu      sync.Mutex
	waiting []any
	next    chan struct{} // closed once those who wait have been put there, or could not be
	busy    bool
	failing bool // the index does not answer at the moment, so nobody waits for it
}

// maxIndexed bounds the guilds that wait for an index that does not answer.
const maxIndexed = 10_000

// put waits until the guilds are in the index, for indexTime at most. It does not wait while the index is known to fail, and
// drops the guilds when maxIndexed wait already: the sweep finds them.
func (x *indexer) put(guilds []any) {
	x.mu.Lock()
	if len(x.waiting)+len(guilds) > maxIndexed {
		x.mu.Unlock()
		return
	}
	if x.next == nil {
		x.next = make(chan struct{})
	}
	x.waiting = append(x.waiting, guilds...)
	done, patient := x.next, !x.failing
	if !x.busy {
		x.busy = true
		// The changes are made by then, so they are indexed though who made them goes away.
		go x.run(context.Background())
	}
	x.mu.Unlock()
	if !patient {
		return
	}
	timer := time.NewTimer(indexTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		x.mu.Lock()
		x.failing = x.busy
		x.mu.Unlock()
	}
}

// run ends by itself: no command is waited for without end.
func (x *indexer) run(ctx context.Context) {
	for {
		x.mu.Lock()
		guilds, done := x.waiting, x.next
		x.waiting, x.next = nil, nil
		if x.busy = len(guilds) > 0; !x.busy {
			x.mu.Unlock()
			return
		}
		x.mu.Unlock()
		err := x.add(ctx, guilds)
		x.mu.Lock()
		x.failing = err != nil
		x.mu.Unlock()
		close(done)
	}
}
