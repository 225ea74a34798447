package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var onceCases = []boardCase{
	{"a repeated request is made once", repeated},
	{"a first outcome stands whatever came after", repeatedLater},
	{"another request under the same key", keyReused},
	{"a request that failed is not recorded", failedIsNotRecorded},
	{"keys are apart", keysApart},
	{"a key of another guild", keyOfAnotherGuild},
	{"a repeated request in a guild that is loaded again", repeatedAfterLoad},
	{"one of many requests with one key", concurrentRequests},
	{"one of many different requests with one key", concurrentRivals},
	{"one of many guilds with one key", concurrentGuilds},
}

// onceOf names a request by the key and what is asked.
func onceOf(key string, request any) leaderboard.Once {
	return leaderboard.Once{
		Key: leaderboard.DigestOf([]byte(key)), Request: leaderboard.DigestOf(fmt.Append(nil, request)),
	}
}

// plus is an increment with this key.
func plus(amount level.XP, key string) leaderboard.Change {
	return leaderboard.Change{Op: leaderboard.Increment, Amount: amount, Once: onceOf(key, amount)}
}

// requests are one request of each kind, with keys of their own, in an order in which they all succeed on userN(1) when it
// has no entry, and what each does.
func (b *board) requests() (calls []func() (leaderboard.Outcome, error), want []leaderboard.Outcome) {
	ctx, user := b.Context(), userN(1)
	change := func(op leaderboard.Op, amount level.XP) func() (leaderboard.Outcome, error) {
		c := leaderboard.Change{Op: op, Amount: amount, Cooldown: time.Hour, Once: onceOf(string(op), amount)}
		return func() (leaderboard.Outcome, error) { return b.Change(ctx, b.g, user, c) }
	}
	calls = []func() (leaderboard.Outcome, error){
		func() (leaderboard.Outcome, error) {
			return b.Create(ctx, b.g, user, leaderboard.Creation{XP: 1e8, Once: onceOf("create", 1)})
		},
		change(leaderboard.Increment, 5),
		change(leaderboard.Decrement, 7),
		change(leaderboard.Set, level.MaxXP),
		func() (leaderboard.Outcome, error) {
			replayed, err := b.Delete(ctx, b.g, user, onceOf("delete", 1))
			return leaderboard.Outcome{Replayed: replayed}, err
		},
	}
	want = []leaderboard.Outcome{{After: 1e8}, {Before: 1e8, After: 1e8 + 5}, {Before: 1e8 + 5, After: 1e8 - 2}, {Before: 1e8 - 2, After: level.MaxXP}, {}}
	return calls, want
}

func repeated(b *board) {
	b.load()
	calls, want := b.requests()
	for i, call := range calls {
		if got, err := call(); err != nil || got != want[i] {
			b.Errorf("request %d: %+v, %v, want %+v", i, got, err, want[i])
		}
		before := b.page(0, 10)
		b.flushAll()
		want[i].Replayed = true
		for range 3 {
			if got, err := call(); err != nil || got != want[i] {
				b.Errorf("request %d again: %+v, %v, want %+v", i, got, err, want[i])
			}
		}
		b.nothingWaits()
		if after := b.page(0, 10); fmt.Sprint(after) != fmt.Sprint(before) {
			b.Errorf("after request %d again %+v, want %+v", i, after, before)
		}
	}
}

func repeatedLater(b *board) {
	b.load(rowN(2, 9))
	calls, want := b.requests()
	for i, call := range calls {
		if _, err := call(); err != nil {
			b.Fatalf("request %d: %v", i, err)
		}
	}
	b.create(userN(1), 3)
	for i, call := range calls {
		want[i].Replayed = true
		if got, err := call(); err != nil || got != want[i] {
			b.Errorf("request %d again: %+v, %v, want %+v", i, got, err, want[i])
		}
	}
	if m := b.member(userN(1)); m.XP != 3 {
		b.Errorf("%d XP after old requests came again, want 3", m.XP)
	}

	// The message count is that of then, too.
	o, err := b.Change(b.Context(), b.g, userN(2), plus(1, "messages"))
	if want := (leaderboard.Outcome{Before: 9, After: 10, MessageCount: 2}); err != nil || o != want {
		b.Errorf("outcome %+v, %v, want %+v", o, err, want)
	}
	b.delete(userN(2))
	o, err = b.Change(b.Context(), b.g, userN(2), plus(1, "messages"))
	if want := (leaderboard.Outcome{Before: 9, After: 10, MessageCount: 2, Replayed: true}); err != nil || o != want {
		b.Errorf("outcome %+v, %v of a member that is gone, want %+v", o, err, want)
	}
}

func keyReused(b *board) {
	ctx := b.Context()
	b.load(rowN(1, 10), rowN(2, 20))
	b.change(userN(1), plus(1, "key"))
	other := onceOf("key", "something else")
	before := b.version()
	// Neither whether there is a member nor what it has is told.
	for _, n := range []int{1, 2, 3} {
		_, err := b.Change(ctx, b.g, userN(n), plus(2, "key"))
		b.wants("change", err, leaderboard.ErrKeyReused)
		_, err = b.Create(ctx, b.g, userN(n), leaderboard.Creation{XP: 1, Once: other})
		b.wants("create", err, leaderboard.ErrKeyReused)
		_, err = b.Delete(ctx, b.g, userN(n), other)
		b.wants("delete", err, leaderboard.ErrKeyReused)
	}
	if after := b.version(); after != before {
		b.Errorf("version %+v after refused requests, want %+v", after, before)
	}
	if o := b.change(userN(1), plus(1, "key")); !o.Replayed || o.After != 11 {
		b.Errorf("the first request again: %+v", o)
	}
}

func failedIsNotRecorded(b *board) {
	ctx := b.Context()
	_, err := b.Change(ctx, b.g, userN(1), plus(1, "not loaded"))
	b.wants("change", err, leaderboard.ErrNotLoaded)
	b.load(rowN(1, 10))
	if o := b.change(userN(1), plus(1, "not loaded")); o.Replayed || o.After != 11 {
		b.Errorf("after the guild was loaded: %+v", o)
	}

	_, err = b.Change(ctx, b.g, userN(2), plus(5, "nobody"))
	b.wants("change", err, leaderboard.ErrNoMember)
	_, err = b.Delete(ctx, b.g, userN(2), onceOf("nobody to delete", 1))
	b.wants("delete", err, leaderboard.ErrNoMember)
	creation := leaderboard.Creation{XP: 7, Once: onceOf("exists", 1)}
	_, err = b.Create(ctx, b.g, userN(1), creation)
	b.wants("create", err, leaderboard.ErrMemberExists)

	b.create(userN(2), 100)
	b.delete(userN(1))
	if o := b.change(userN(2), plus(5, "nobody")); o.Replayed || o.After != 105 {
		b.Errorf("a change that failed, again: %+v", o)
	}
	if o, err := b.Create(ctx, b.g, userN(1), creation); err != nil || o.Replayed || o.After != 7 {
		b.Errorf("a creation that failed, again: %+v, %v", o, err)
	}
	if replayed, err := b.Delete(ctx, b.g, userN(2), onceOf("nobody to delete", 1)); err != nil || replayed {
		b.Errorf("a deletion that failed, again: replayed %v, %v", replayed, err)
	}

	// And its key is free for another request.
	_, err = b.Change(ctx, b.g, userN(9), plus(1, "free"))
	b.wants("change", err, leaderboard.ErrNoMember)
	if o := b.change(userN(1), plus(2, "free")); o.Replayed || o.After != 9 {
		b.Errorf("another request under the key of one that failed: %+v", o)
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

func keyOfAnotherGuild(b *board) {
	ctx := b.Context()
	other := leaderboard.GuildRef{ID: "100000000000000002", Incarnation: 9}
	b.load(rowN(1, 10))
	b.hydrate(other, snapshot.State{Epoch: 1}, rowN(1, 20))
	b.change(userN(1), plus(1, "made"))
	for range 2 {
		_, err := b.Change(ctx, other, userN(1), plus(2, "made"))
		b.wants("the key of a request that was made in another guild", err, leaderboard.ErrKeyReused)
	}
	if o := b.change(userN(1), plus(1, "made")); !o.Replayed {
		b.Errorf("the request itself: %+v", o)
	}

	// Nothing was made under this key, so it is free; then it is not.
	_, err := b.Change(ctx, b.g, userN(2), plus(1, "failed"))
	b.wants("change of nobody", err, leaderboard.ErrNoMember)
	for _, replayed := range []bool{false, true} {
		o, err := b.Change(ctx, other, userN(1), plus(2, "failed"))
		if want := (leaderboard.Outcome{Before: 20, After: 22, MessageCount: 1, Replayed: replayed}); err != nil || o != want {
			b.Errorf("in another guild: %+v, %v, want %+v", o, err, want)
		}
	}
	_, err = b.Change(ctx, b.g, userN(1), plus(1, "failed"))
	b.wants("the key that went to another guild", err, leaderboard.ErrKeyReused)
	if m := b.member(userN(1)); m.XP != 11 {
		b.Errorf("%d XP, want 11", m.XP)
	}
}

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
				b.Errorf("%+v, %v", o, err)
			case o.Replayed:
				replays.Add(1)
			default:
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 || replays.Load() != workers-1 || b.member(userN(1)).XP != 11 || b.version().Rev != 1 {
		b.Errorf("%d made, %d replays, %d XP at rev %d", made.Load(), replays.Load(), b.member(userN(1)).XP, b.version().Rev)
	}
}

func concurrentRivals(b *board) {
	const workers = 50
	b.load(rowN(1, 0))
	var won, refused atomic.Int64
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			o, err := b.Change(b.Context(), b.g, userN(1), plus(level.XP(i+1), "key"))
			switch {
			case err == nil:
				won.Add(int64(o.After))
			case errors.Is(err, leaderboard.ErrKeyReused):
				refused.Add(1)
			default:
				b.Error(err)
			}
		})
	}
	all.Wait()
	if xp := int64(b.member(userN(1)).XP); won.Load() != xp || refused.Load() != workers-1 || b.version().Rev != 1 {
		b.Errorf("%d XP, the request that was made gave %d, %d were refused, rev %d", xp, won.Load(), refused.Load(), b.version().Rev)
	}
}

// Guilds have no step in common, and yet only one of them gets the key, whatever comes in between.
func concurrentGuilds(b *board) {
	const keys, guilds = 40, 4
	refs := make([]leaderboard.GuildRef, guilds)
	for i := range refs {
		refs[i] = leaderboard.GuildRef{ID: id.Guild(fmt.Sprintf("1%017d", i)), Incarnation: 5}
		b.hydrate(refs[i], snapshot.State{Epoch: 1}, rowN(1, 0))
	}
	for key := range keys {
		var made, refused atomic.Int64
		var all sync.WaitGroup
		for i, g := range refs {
			c := plus(level.XP(i+1), fmt.Sprintf("key %d", key))
			all.Go(func() {
				// Any other answer leaves open whether it was made, and is asked again.
				for range 1000 {
					switch _, err := b.Change(b.Context(), g, userN(1), c); {
					case err == nil:
						made.Add(1)
						return
					case errors.Is(err, leaderboard.ErrKeyReused):
						refused.Add(1)
						return
					}
				}
				b.Errorf("key %d, guild %d: no answer", key, i)
			})
		}
		all.Wait()
		if made.Load() != 1 || refused.Load() != guilds-1 {
			b.Errorf("key %d: made in %d guilds, refused in %d", key, made.Load(), refused.Load())
		}
	}
	sum := int64(0)
	for _, g := range refs {
		v, err := b.Version(b.Context(), g)
		b.must(err)
		sum += v.Rev
	}
	if sum != keys {
		b.Errorf("%d changes were made under %d keys", sum, keys)
	}
}
