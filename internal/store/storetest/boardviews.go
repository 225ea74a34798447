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
	{"a view of what is known already", unchangedViews},
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
		rows[i] = rowN(i, level.XP(i/2)) // two of each
	}
	b.load(rows...)
	users := []id.User{userN(7), "299999999999999999", userN(249), userN(0), userN(7)}
	v := b.view(leaderboard.Look{Pages: []int64{2, 1, 3, 4, math.MaxInt64}, Users: users})
	if v.Total != members || v.Version != b.version() || v.Unchanged {
		b.Errorf("%d members at %+v, unchanged %v", v.Total, v.Version, v.Unchanged)
	}
	if len(v.Pages) != 5 {
		b.Fatalf("%d pages", len(v.Pages))
	}
	for i, number := range []int64{2, 1, 3, 3, 3} {
		want := leaderboard.NumberedPage{Number: number, Rows: b.page(100*(number-1), 100).Rows}
		if !reflect.DeepEqual(v.Pages[i], want) {
			b.Errorf("page %d, with number %d and %d rows, is not what page %d is", i, v.Pages[i].Number, len(v.Pages[i].Rows), number)
		}
	}
	want := []leaderboard.Ranked{b.member(userN(7)), b.member(userN(249)), b.member(userN(0)), b.member(userN(7))}
	if !reflect.DeepEqual(v.Members, want) {
		b.Errorf("members %+v, want %+v", v.Members, want)
	}
	if v := b.view(leaderboard.Look{}); v.Total != members || len(v.Pages)+len(v.Members) != 0 {
		b.Errorf("nothing asked for, and found %+v", v)
	}
}

func emptyViews(b *board) {
	b.load()
	v := b.view(leaderboard.Look{Pages: []int64{1, 5}, Users: []id.User{userN(1)}})
	if v.Total != 0 || len(v.Pages) != 2 || len(v.Members) != 0 {
		b.Fatalf("%+v", v)
	}
	for _, p := range v.Pages {
		if p.Number != 1 || len(p.Rows) != 0 {
			b.Errorf("page %+v, want page 1 without rows", p)
		}
	}
}

func unchangedViews(b *board) {
	b.load(rowN(1, 10))
	look := leaderboard.Look{Pages: []int64{1}, Users: []id.User{userN(1)}}
	known := b.view(look).Version
	look.Unless = &known
	if v := b.view(look); !v.Unchanged || v.Version != known || v.Total != 1 || len(v.Pages)+len(v.Members) != 0 {
		b.Errorf("nothing changed: %+v", v)
	}
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 5})
	if v := b.view(look); v.Unchanged || v.Version == known || v.Pages[0].Rows[0].XP != 15 || v.Members[0].XP != 15 {
		b.Errorf("after a change: %+v", v)
	}
	look.Unless = &leaderboard.Version{Epoch: known.Epoch + 1, Rev: b.version().Rev}
	if v := b.view(look); v.Unchanged {
		b.Errorf("of another epoch: %+v", v)
	}
}

func viewBounds(b *board) {
	b.load(rowN(1, 10))
	users := make([]id.User, leaderboard.MaxViewUsers)
	for i := range users {
		users[i] = userN(i)
	}
	pages := make([]int64, leaderboard.MaxViewPages)
	for i := range pages {
		pages[i] = 1
	}
	b.view(leaderboard.Look{Pages: pages, Users: users})
	for _, look := range []leaderboard.Look{
		{Pages: append(pages, 1)}, {Users: append(users, userN(1))}, {Pages: []int64{0}}, {Pages: []int64{-1}},
	} {
		if v, err := b.View(b.Context(), b.g, look); err == nil {
			b.Errorf("%d pages and %d members: %+v", len(look.Pages), len(look.Users), v)
		}
	}
}
