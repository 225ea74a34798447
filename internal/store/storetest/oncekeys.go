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
	// The refusal reveals neither whether the member exists nor its XP.
	for _, n := range []int{1, 2, 3} {
		_, err := b.Change(ctx, b.g, userN(n), plus(2, "key"))
		b.wants("change", err, leaderboard.ErrKeyReused)
		_, err = b.Create(ctx, b.g, userN(n), leaderboard.Creation{XP: 1, Once: other})
		b.wants("create", err, leaderboard.ErrKeyReused)
		_, err = b.Delete(ctx, b.g, userN(n), leaderboard.Removal{Once: other})
		b.wants("delete", err, leaderboard.ErrKeyReused)
	}
	if after := b.version(); after != before {
		b.Errorf("refused requests changed the version from %+v to %+v", before, after)
	}
	if o := b.change(userN(1), plus(1, "key")); !o.Replayed || o.After != 11 {
		b.Errorf("the first request repeated is %+v, want a replay with 11 XP", o)
	}
}

func keysApart(b *board) {
	b.load(rowN(1, 0))
	for i := range 5 {
		c := plus(1, fmt.Sprintf("key %d", i))
		if o := b.change(userN(1), c); o.Replayed || o.After != level.XP(i+1) {
			b.Errorf("request %d is %+v, want it made, with %d XP", i, o, i+1)
		}
	}
	for range 5 {
		if o := b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 1}); o.Replayed {
			b.Errorf("a request without a key is %+v, want no replay", o)
		}
	}
	if m := b.member(userN(1)); m.XP != 10 {
		b.Errorf("after 10 different requests the member has %d XP, want 10", m.XP)
	}
}

// The same key in another guild names another request.
func keyOfAnotherGuild(b *board) {
	other := leaderboard.GuildRef{ID: "100000000000000002", Incarnation: 9}
	b.load(rowN(1, 10))
	b.hydrate(other, snapshot.State{Epoch: 1}, rowN(1, 20))
	for _, replayed := range []bool{false, true} {
		if o := b.change(userN(1), plus(1, "key")); o.Replayed != replayed || o.After != 11 {
			b.Errorf("the request is %+v, want 11 XP and replayed %v", o, replayed)
		}
		o, err := b.Change(b.Context(), other, userN(1), plus(2, "key"))
		if want := (leaderboard.Outcome{Before: 20, After: 22, MessageCount: 1, Replayed: replayed}); err != nil || o != want {
			b.Errorf("in another guild the request is %+v (%v), want %+v", o, err, want)
		}
	}
}
