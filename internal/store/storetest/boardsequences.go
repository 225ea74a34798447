package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"pgregory.net/rapid"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

var sequenceCases = []boardCase{
	{"concurrent changes of every kind have an order", concurrentSteps},
	{"one of many creations succeeds", concurrentCreations},
	{"any sequence of changes matches a map", anySequence},
}

func concurrentCreations(b *board) {
	b.load()
	const workers = 8
	var made, refused int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			_, err := b.Create(b.Context(), b.g, userN(1), leaderboard.Creation{XP: 1})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case errors.Is(err, leaderboard.ErrMemberExists):
				refused++
			}
		})
	}
	all.Wait()
	if made != 1 || refused != workers-1 {
		b.Errorf("%d of %d concurrent creations succeeded and %d were refused, want 1 and %d", made, workers, refused, workers-1)
	}
}

// anySequence compares the store with a map for random sequences of creations, changes, deletions and flushes.
func anySequence(b *board) {
	guilds := 0
	rapid.Check(b.T, func(t *rapid.T) {
		guilds++
		b.g.ID = id.Guild(fmt.Sprintf("3%017d", guilds))
		b.load()
		model, dirty, rev := map[id.User]level.XP{}, map[id.User]bool{}, int64(0)
		note := func(user id.User) { dirty[user] = true; rev++ }
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			user := userN(rapid.IntRange(1, 4).Draw(t, "user"))
			amount := rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, int64(level.MaxXP))).Draw(t, "amount")
			xp, exists := model[user]
			op := rapid.SampledFrom([]string{"create", "increment", "decrement", "set", "delete", "flush"}).Draw(t, "op")
			var err, want error
			switch op {
			case "create":
				_, err = b.Create(b.Context(), b.g, user, leaderboard.Creation{XP: level.XP(amount)})
				if exists {
					want = leaderboard.ErrMemberExists
				} else {
					model[user] = level.XP(amount)
					note(user)
				}
			case "delete":
				_, err = b.Delete(b.Context(), b.g, user, leaderboard.Removal{})
				if !exists {
					want = leaderboard.ErrNoMember
				} else {
					delete(model, user)
					note(user)
				}
			case "flush":
				got := map[id.User]bool{}
				for _, row := range b.flushAll() {
					got[row.UserID] = true
					if xp, exists := model[row.UserID]; row.Deleted == exists || row.XP != xp {
						t.Fatalf("flushed %+v, want %d XP, exists %v", row, xp, exists)
					}
				}
				if !maps.Equal(got, dirty) {
					t.Fatalf("flushed the members %v, want %v", got, dirty)
				}
				dirty = map[id.User]bool{}
			default:
				c := leaderboard.Change{Op: leaderboard.Op(op), Amount: level.XP(amount)}
				var o leaderboard.Outcome
				o, err = b.Change(b.Context(), b.g, user, c)
				if !exists {
					want = leaderboard.ErrNoMember
				} else {
					model[user] = applied(xp, c)
					note(user)
					if o.Before != xp || o.After != model[user] {
						t.Fatalf("%s by %d at %d XP: %+v, want %d", op, amount, xp, o, model[user])
					}
				}
			}
			if !errors.Is(err, want) {
				t.Fatalf("%s: %v, want %v", op, err, want)
			}
		}
		order := slices.SortedFunc(maps.Keys(model), func(x, y id.User) int {
			return cmp.Or(cmp.Compare(model[y], model[x]), cmp.Compare(y, x))
		})
		p := b.page(0, 100)
		if len(p.Rows) != len(order) || p.Version.Rev != rev {
			t.Fatalf("the page has %d rows at rev %d, want %d at %d", len(p.Rows), p.Version.Rev, len(order), rev)
		}
		for i, user := range order {
			if p.Rows[i].UserID != user || p.Rows[i].XP != model[user] {
				t.Fatalf("row %d is %+v, want %s with %d XP", i, p.Rows[i], user, model[user])
			}
		}
	})
}

func applied(xp level.XP, c leaderboard.Change) level.XP {
	switch c.Op {
	case leaderboard.Increment:
		return min(xp+c.Amount, level.MaxXP)
	case leaderboard.Decrement:
		return max(xp-c.Amount, 0)
	}
	return c.Amount
}
