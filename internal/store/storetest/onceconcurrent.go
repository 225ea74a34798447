package storetest

import (
	"sync"
	"sync/atomic"
)

func concurrentRequests(b *board) {
	const workers = 50
	b.load(rowN(1, 10))
	var made, replays atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			o, err := b.Change(b.Context(), b.g, userN(1), plus(1, "key"))
			switch {
			case err != nil || o.Before != 10 || o.After != 11:
				b.Errorf("a request's outcome is %+v (%v), want 10 to 11", o, err)
			case o.Replayed:
				replays.Add(1)
			default:
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 || replays.Load() != workers-1 || b.member(userN(1)).XP != 11 || b.version().Rev != 1 {
		b.Errorf("%d made and %d replayed, with %d XP at rev %d, want 1 made, 11 XP at rev 1",
			made.Load(), replays.Load(), b.member(userN(1)).XP, b.version().Rev)
	}
}
