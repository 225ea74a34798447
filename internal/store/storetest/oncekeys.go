package storetest

import (
	"fmt"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func keyReused(b *board) {
	ctx := b.Context()
	b.load(rowN(1, 10), rowN(2, 20))
	b.change(userN(1), plus(1, "key"))
	other := onceOf("key", "something else")
	before := b.version()
	// The answer says neither whether there is a member nor what it has.
	for _, n := range []int{1, 2, 3} {
		_, err := b.Change(ctx, b.g, userN(n), plus(2, "key"))
		b.wants("change", err, leaderboard.ErrKeyReused)
		_, err = b.Create(ctx, b.g, userN(n), leaderboard.Creation{XP: 1, Once: other})
		b.wants("create", err, leaderboard.ErrKeyReused)
		_, err = b.Delete(ctx, b.g, userN(n), leaderboard.Removal{Once: other})
		b.wants("delete", err, leaderboard.ErrKeyReused)
	}
	if after := b.version(); after != before {
		b.Errorf("version %+v after refused requests, want %+v", after, before)
	}
	if o := b.change(userN(1), plus(1, "key")); !o.Replayed || o.After != 11 {
		b.Errorf("the first request again: %+v", o)
	}
}

func keysApart(b *board) {
	b.load(rowN(1, 0))
	for i := range 5 {
		c := plus(1, fmt.Sprintf("key %d", i))
		if o := b.change(userN(1), c); o.Replayed || o.After != level.XP(i+1) {
			b.Errorf("request %d: %+v", i, o)
		}
	}
	for range 5 {
		if o := b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 1}); o.Replayed {
			b.Errorf("a request without a key: %+v", o)
		}
	}
	if m := b.member(userN(1)); m.XP != 10 {
		b.Errorf("%d XP after 10 requests that are not the same, want 10", m.XP)
	}
}

// A name is of its guild: the same one in another guild names another request.
func keyOfAnotherGuild(b *board) {
	other := leaderboard.GuildRef{ID: "100000000000000002", Incarnation: 9}
	b.load(rowN(1, 10))
	b.hydrate(other, snapshot.State{Epoch: 1}, rowN(1, 20))
	for _, replayed := range []bool{false, true} {
		if o := b.change(userN(1), plus(1, "key")); o.Replayed != replayed || o.After != 11 {
			b.Errorf("the request: %+v, want replayed %v", o, replayed)
		}
		o, err := b.Change(b.Context(), other, userN(1), plus(2, "key"))
		if want := (leaderboard.Outcome{Before: 20, After: 22, MessageCount: 1, Replayed: replayed}); err != nil || o != want {
			b.Errorf("in another guild: %+v, %v, want %+v", o, err, want)
		}
	}
}
