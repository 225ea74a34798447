package storetest

import (
	"fmt"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

var onceCases = []boardCase{
	{"a repeated request is made once", repeated},
	{"a repeat has the first outcome", repeatedLater},
	{"another request under the key is refused", keyReused},
	{"a failed request is not recorded", failedIsNotRecorded},
	{"each key names one request", keysApart},
	{"a key names one guild's request", keyOfAnotherGuild},
	{"a repeat in a recreated guild", repeatedInTheNextIncarnation},
	{"a repeated request after its record was lost", repeatedAfterLoss},
	{"a step lost in part is completed", awardedInPart},
	{"a journal keeps records", journalled},
	{"more records than fit a page", journalInPages},
	{"one of many equal requests is made", concurrentRequests},
}

// onceOf returns an idempotency key with the request's digest.
func onceOf(key string, request any) leaderboard.Once {
	return leaderboard.Once{
		Key: leaderboard.DigestOf([]byte(key)), Request: leaderboard.DigestOf(fmt.Append(nil, request)),
	}
}

// plus returns an increment with this key.
func plus(amount level.XP, key string) leaderboard.Change {
	return leaderboard.Change{Op: leaderboard.Increment, Amount: amount, Once: onceOf(key, amount)}
}

// requests returns one request of each kind with its outcome, each with its own key. In this order all succeed on userN(1), which has no
// entry before.
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
			replayed, err := b.Delete(ctx, b.g, user, leaderboard.Removal{Once: onceOf("delete", 1)})
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
			b.Errorf("request %d made %+v (%v), want %+v", i, got, err, want[i])
		}
		before := b.page(0, 10)
		b.flushAll()
		want[i].Replayed = true
		for range 3 {
			if got, err := call(); err != nil || got != want[i] {
				b.Errorf("request %d repeated made %+v (%v), want %+v", i, got, err, want[i])
			}
		}
		b.nothingWaits()
		if after := b.page(0, 10); fmt.Sprint(after) != fmt.Sprint(before) {
			b.Errorf("repeating request %d changed the page to %+v, want %+v", i, after, before)
		}
	}
}
