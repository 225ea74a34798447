package storetest

import (
	"math"
	"reflect"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var viewCases = []boardCase{
	{"views", views},
	{"views of an empty board", emptyViews},
	{"an unchanged view has no rows", unchangedViews},
	{"a view has bounds", viewBounds},
}

func (b *board) view(look leaderboard.Look) leaderboard.View {
	b.Helper()
	v, err := b.View(b.Context(), b.g, look)
	b.must(err)
	return v
}

func views(b *board) {
	const members = 250
	rows := make([]snapshot.Row, members)
	for i := range rows {
		rows[i] = rowN(i, level.XP(i/2)) // each XP twice
	}
	b.load(rows...)
	users := []id.User{userN(7), "299999999999999999", userN(249), userN(0), userN(7)}
	for ask, number := range map[int64]int64{1: 1, 2: 2, 3: 3, 4: 3, math.MaxInt64: 3} {
		if v := b.view(leaderboard.Look{Page: ask}); v.Number != number || !reflect.DeepEqual(v.Rows, b.page(100*(number-1), 100).Rows) {
			b.Errorf("asking for page %d gave number %d with %d rows, want page %d", ask, v.Number, len(v.Rows), number)
		}
	}
	v := b.view(leaderboard.Look{Users: users})
	if v.Total != members || v.Version != b.version() || v.Unchanged || v.Rows != nil {
		b.Errorf("the view has %d members at %+v, unchanged %v, %d rows", v.Total, v.Version, v.Unchanged, len(v.Rows))
	}
	want := []leaderboard.Ranked{b.member(userN(7)), b.member(userN(249)), b.member(userN(0)), b.member(userN(7))}
	if !reflect.DeepEqual(v.Members, want) {
		b.Errorf("the view's members are %+v, want %+v", v.Members, want)
	}
}

func emptyViews(b *board) {
	b.load()
	for _, page := range []int64{0, 1, 5} {
		v := b.view(leaderboard.Look{Page: page, Users: []id.User{userN(1)}})
		if v.Total != 0 || v.Number != min(page, 1) || len(v.Rows) != 0 || len(v.Members) != 0 {
			b.Errorf("page %d of an empty board is %+v, want no rows", page, v)
		}
	}
}

func unchangedViews(b *board) {
	b.load(rowN(1, 10))
	look := leaderboard.Look{Page: 1, Users: []id.User{userN(1)}}
	known := b.view(look).Version
	look.Unless = &known
	if v := b.view(look); !v.Unchanged || v.Version != known || v.Total != 1 || len(v.Rows)+len(v.Members) != 0 {
		b.Errorf("without a change the view is %+v, want unchanged and without rows", v)
	}
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 5})
	if v := b.view(look); v.Unchanged || v.Version == known || v.Rows[0].XP != 15 || v.Members[0].XP != 15 {
		b.Errorf("after a change the view is %+v, want 15 XP", v)
	}
	look.Unless = &leaderboard.Version{Epoch: known.Epoch + 1, Rev: b.version().Rev}
	if v := b.view(look); v.Unchanged {
		b.Errorf("from another epoch the view is %+v, want rows", v)
	}
}

func viewBounds(b *board) {
	b.load(rowN(1, 10))
	users := make([]id.User, leaderboard.MaxViewUsers)
	for i := range users {
		users[i] = userN(i)
	}
	b.view(leaderboard.Look{Page: 1, Users: users})
	if v, err := b.View(b.Context(), b.g, leaderboard.Look{Users: append(users, userN(1))}); err == nil {
		b.Errorf("a view of too many members was accepted: %+v", v)
	}
}
