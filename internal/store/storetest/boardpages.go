package storetest

import (
	"reflect"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func ranks(b *board) {
	b.load(rowN(1, 50), rowN(2, 100), rowN(3, 50), rowN(4, 0), rowN(5, 50))
	// Equal XP is in descending order of the ids' bytes, as in ZREVRANGE.
	want := []id.User{userN(2), userN(5), userN(3), userN(1), userN(4)}
	rows := b.page(0, 10).Rows
	if len(rows) != len(want) {
		b.Fatalf("the page has %d rows, want %d", len(rows), len(want))
	}
	for i, user := range want {
		if rows[i].UserID != user || rows[i].Rank != int64(i+1) {
			b.Errorf("row %d is %s with rank %d, want %s", i, rows[i].UserID, rows[i].Rank, user)
		}
		if m := b.member(user); !reflect.DeepEqual(m, rows[i]) {
			b.Errorf("the member alone is %+v, want %+v as on the page", m, rows[i])
		}
	}
	b.change(userN(4), leaderboard.Change{Op: leaderboard.Increment, Amount: 51})
	if m := b.member(userN(4)); m.Rank != 2 {
		b.Errorf("with 51 XP the rank is %d, want 2", m.Rank)
	}
	short, long := id.User("99999999999999999"), id.User("1000000000000000000")
	b.create(short, 100)
	b.create(long, 100)
	if s, l := b.member(short), b.member(long); s.Rank != 1 || l.Rank != 3 {
		b.Errorf("ids of 17 and 19 digits with equal XP have the ranks %d and %d, want 1 and 3", s.Rank, l.Rank)
	}
}

func pages(b *board) {
	const members = 250
	rows := make([]snapshot.Row, members)
	for i := range rows {
		rows[i] = rowN(i, level.XP(i))
	}
	b.load(rows...)
	for _, c := range []struct{ offset, limit, want int64 }{
		{0, 100, 100}, {100, 100, 100}, {200, 100, 50}, {250, 100, 0}, {300, 100, 0},
		{0, 1, 1}, {249, 1, 1}, {0, 1000, 250}, {1 << 50, 100, 0},
	} {
		p := b.page(c.offset, c.limit)
		if int64(len(p.Rows)) != c.want {
			b.Errorf("the page at %d of %d has %d rows, want %d", c.offset, c.limit, len(p.Rows), c.want)
		}
		if p.Version != (leaderboard.Version{Epoch: 1, Rev: 0}) {
			b.Errorf("the page at %d has the version %+v, want epoch 1 and rev 0", c.offset, p.Version)
		}
		for i, row := range p.Rows {
			n := members - 1 - int(c.offset) - i
			want := leaderboard.Ranked{Member: rows[n].Member, Rank: c.offset + int64(i) + 1}
			if !reflect.DeepEqual(row, want) {
				b.Fatalf("row %d of the page at %d is %+v, want %+v", i, c.offset, row, want)
			}
		}
	}
}

// everySize checks that numbers are exact, though a store may keep scores as floats and print them in another form.
func everySize(b *board) {
	b.load()
	for _, xp := range []level.XP{0, 1, 99_999_999, 1e8, 1e8 + 1, 2e8, 1e9, 1.5e9, 2e9, 2.1e9, level.MaxXP} {
		_, err := b.Create(b.Context(), b.g, userN(1), leaderboard.Creation{XP: xp})
		b.must(err)
		if m := b.member(userN(1)); m.XP != xp {
			b.Errorf("a member created with %d XP has %d", xp, m.XP)
		}
		if p := b.page(0, 10); len(p.Rows) != 1 || p.Rows[0].XP != xp {
			b.Errorf("a member created with %d XP is on the page as %+v", xp, p.Rows)
		}
		b.change(userN(1), leaderboard.Change{Op: leaderboard.Set, Amount: xp})
		for _, c := range []leaderboard.Change{{Op: leaderboard.Decrement, Amount: 1}, {Op: leaderboard.Increment, Amount: 1}} {
			before := b.member(userN(1)).XP
			if o, err := b.Change(b.Context(), b.g, userN(1), c); err != nil || o.Before != before || o.After != applied(before, c) {
				b.Errorf("%s by 1 at %d XP: %+v (%v), want %d XP after", c.Op, before, o, err, applied(before, c))
			}
		}
		want := b.member(userN(1)).XP
		if rows := b.flushAll(); len(rows) != 1 || rows[0].XP != want {
			b.Errorf("a member with %d XP is flushed as %+v", want, rows)
		}
		b.delete(userN(1))
	}
}

func userData(b *board) {
	b.load()
	text := func(s string) *string { return &s }
	for i, u := range []leaderboard.User{
		{},
		{Username: "plain", Discriminator: "0"},
		{Avatar: text(""), GlobalName: text(""), AccentColour: text("")},
		{Avatar: text("a_0123456789abcdef0123456789abcdef")},
		{GlobalName: text("only a global name")},
		{AccentColour: text("#ff8800")},
		{Username: `quotes " ' \ and %s {} [] <b>`, Discriminator: "line\nbreak\ttab\r", GlobalName: text(" ")},
		{Username: "Ünï→🎉 مرحبا 你好", GlobalName: text("e\u0301\u200d\ufeff"), Discriminator: "\x01\x7f"},
	} {
		user := userN(i)
		_, err := b.Create(b.Context(), b.g, user, leaderboard.Creation{XP: 1, User: u})
		b.must(err)
		if got := b.member(user).User; !reflect.DeepEqual(got, u) {
			b.Errorf("user data %d is read as %+v, want %+v", i, got, u)
		}
	}

	// The same after a flush and a hydration.
	before := b.page(0, 100).Rows
	rows := b.flushAll()
	b.must(b.Drop(b.Context(), b.g))
	b.hydrate(b.g, snapshot.State{Epoch: 2}, rows...)
	if after := b.page(0, 100).Rows; !reflect.DeepEqual(after, before) {
		b.Errorf("after a flush and a hydration the page is %+v, want %+v", after, before)
	}

	_, err := b.Create(b.Context(), b.g, userN(99), leaderboard.Creation{XP: 1, User: leaderboard.User{Username: "a\x00b"}})
	if err == nil {
		b.Error("a NUL in user data was accepted")
	}
}
