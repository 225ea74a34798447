package storetest

import (
	"fmt"
	"reflect"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

func (b *board) change(user id.User, c leaderboard.Change) leaderboard.Outcome {
	b.Helper()
	o, err := b.Change(b.Context(), b.g, user, c)
	b.must(err)
	return o
}

func (b *board) create(user id.User, xp level.XP) {
	b.Helper()
	_, err := b.Create(b.Context(), b.g, user, leaderboard.Creation{XP: xp, User: leaderboard.User{Username: "u"}})
	b.must(err)
}

func create(b *board) {
	b.load()
	data := leaderboard.User{Username: "ada", Discriminator: "0001"}
	o, err := b.Create(b.Context(), b.g, userN(1), leaderboard.Creation{XP: 4150, User: data})
	b.must(err)
	if want := (leaderboard.Outcome{Before: 0, After: 4150}); o != want {
		b.Errorf("the outcome is %+v, want %+v", o, want)
	}
	m := b.member(userN(1))
	if age := time.Since(m.LastUpdated); age < -time.Minute || age > time.Minute {
		b.Errorf("the member was last updated at %v, want now", m.LastUpdated)
	}
	m.LastUpdated = time.Time{}
	want := leaderboard.Ranked{Rank: 1, Member: leaderboard.Member{UserID: userN(1), XP: 4150, User: data}}
	if !reflect.DeepEqual(m, want) {
		b.Errorf("the entry is %+v, want %+v", m, want)
	}

	before := b.page(0, 10)
	_, err = b.Create(b.Context(), b.g, userN(1), leaderboard.Creation{XP: 9, User: leaderboard.User{Username: "other"}})
	b.wants("create twice", err, leaderboard.ErrMemberExists)
	if after := b.page(0, 10); !reflect.DeepEqual(after, before) {
		b.Errorf("after a refused create the page is %+v, want %+v", after, before)
	}

	for _, xp := range []level.XP{0, level.MaxXP} {
		user := userN(int(xp))
		b.create(user, xp)
		if m := b.member(user); m.XP != xp {
			b.Errorf("a member created with %d XP has %d", xp, m.XP)
		}
	}
}

func change(b *board) {
	for i, c := range []struct {
		op                   leaderboard.Op
		start, amount, after level.XP
	}{
		{leaderboard.Increment, 0, 1, 1},
		{leaderboard.Increment, 100, 50, 150},
		{leaderboard.Increment, level.MaxXP - 1, 1, level.MaxXP},
		{leaderboard.Increment, level.MaxXP - 1, 2, level.MaxXP},
		{leaderboard.Increment, level.MaxXP, level.MaxXP, level.MaxXP},
		{leaderboard.Increment, 1, level.MaxXP, level.MaxXP},
		{leaderboard.Decrement, 100, 30, 70},
		{leaderboard.Decrement, 1, 1, 0},
		{leaderboard.Decrement, 1, 2, 0},
		{leaderboard.Decrement, 0, level.MaxXP, 0},
		{leaderboard.Decrement, level.MaxXP, level.MaxXP, 0},
		{leaderboard.Decrement, level.MaxXP, 1, level.MaxXP - 1},
		{leaderboard.Set, 100, 0, 0},
		{leaderboard.Set, 0, level.MaxXP, level.MaxXP},
		{leaderboard.Set, 5, 5, 5},
	} {
		name := fmt.Sprintf("%s %d by %d", c.op, c.start, c.amount)
		b.g.ID = id.Guild(fmt.Sprintf("1%017d", i))
		b.load(rowN(3, c.start))
		got := b.change(userN(3), leaderboard.Change{Op: c.op, Amount: c.amount})
		if want := (leaderboard.Outcome{Before: c.start, After: c.after, MessageCount: 3}); got != want {
			b.Errorf("%s: the outcome is %+v, want %+v", name, got, want)
		}
		m := b.member(userN(3))
		if m.XP != c.after || m.MessageCount != 3 || m.User.Username != "user3" {
			b.Errorf("%s: the entry is %+v, want %d XP and the rest as before", name, m, c.after)
		}
		if age := time.Since(m.LastUpdated); age < -time.Minute || age > time.Minute {
			b.Errorf("%s: last updated at %v, want now", name, m.LastUpdated)
		}
		if b.version().Rev != 1 {
			b.Errorf("%s: the rev is %d, want 1", name, b.version().Rev)
		}
		_, err := b.Change(b.Context(), b.g, userN(4), leaderboard.Change{Op: c.op, Amount: c.amount})
		b.wants(name+" of nobody", err, leaderboard.ErrNoMember)
	}
	_, err := b.Change(b.Context(), b.g, userN(3), leaderboard.Change{Op: "double", Amount: 1})
	if err == nil {
		b.Error("an unknown operation was accepted")
	}
}
