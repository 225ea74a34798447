package storetest

import (
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func repeatedAfterLoad(b *board) {
	ctx := b.Context()
	b.load(rowN(1, 10))
	b.change(userN(1), plus(1, "key"))
	rows := b.flushAll()
	b.must(b.Drop(ctx, b.g))
	_, err := b.Change(ctx, b.g, userN(1), plus(1, "key"))
	b.wants("the request again, of a guild that is not loaded", err, leaderboard.ErrNotLoaded)
	b.hydrate(b.g, snapshot.State{Epoch: 2, Archived: 1}, rows...)
	if o := b.change(userN(1), plus(1, "key")); !o.Replayed || o.Before != 10 || o.After != 11 {
		b.Errorf("after the guild was loaded again: %+v", o)
	}

	// The guild was deleted and created anew: nothing of its past returns.
	b.must(b.Drop(ctx, b.g))
	b.g.Incarnation++
	b.hydrate(b.g, snapshot.State{Epoch: 1}, rowN(1, 500))
	_, err = b.Change(ctx, b.g, userN(1), plus(2, "key"))
	b.wants("another request in the next incarnation", err, leaderboard.ErrKeyReused)
	for _, replayed := range []bool{false, true} {
		if o := b.change(userN(1), plus(1, "key")); o.Replayed != replayed || o.Before != 500 || o.After != 501 {
			b.Errorf("the request in the next incarnation: %+v, want 501 XP and replayed %v", o, replayed)
		}
	}
}
