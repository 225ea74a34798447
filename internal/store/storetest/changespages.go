package storetest

import (
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func changesInPages(b *board) {
	const members, size = 2345, 500
	var rows []snapshot.Row
	for i := range members {
		rows = append(rows, rowN(i, level.XP(3*i)))
	}
	b.load(rows...)
	for i := range members {
		b.change(userN(i), plusOne)
	}
	first := b.changesPage(size, -1, 0)
	if len(first.Batch.Rows) != size || first.Batch.Rev != size || first.Batch.AsOf != members || first.Left != members || !first.More() ||
		!slices.Equal(first.Ends, []int64{size + 1000}) {
		b.Fatalf("page of %d rows up to rev %d of %d, then up to %v", len(first.Batch.Rows), first.Batch.Rev, first.Batch.AsOf, first.Ends)
	}
	// The others are read in any order, and those up to a rev stay as many.
	var read []snapshot.Page
	for _, of := range []struct{ after, upTo int64 }{{2 * size, 3 * size}, {size, 2 * size}, {3 * size, 0}, {4 * size, 0}} {
		p := b.changesPage(size, of.after, of.upTo)
		if p.Batch.After != of.after || p.More() != (of.after != 4*size) {
			b.Errorf("page %+v after %d", p, of.after)
		}
		read = append(read, p)
	}
	got := 0
	for i, p := range append(read, first) {
		got += len(p.Batch.Rows)
		if more := b.end(p.Batch); more[0] != (i < len(read)) {
			b.Errorf("page %d: more: %v", i, more)
		}
		for _, row := range p.Batch.Rows {
			if n := (row.XP - 1) / 3; row.XP != 3*n+1 || row.UserID != userN(int(n)) {
				b.Fatalf("row %+v", row)
			}
		}
	}
	if got != members {
		b.Errorf("%d members were read, want %d", got, members)
	}
	b.nothingWaits()
	if p := b.changesPage(size, 7, 0); len(p.Batch.Rows) > 0 || p.Batch.Rev != 0 {
		b.Errorf("after the last page there is %+v", p)
	}

	// Members whose change was one step are not torn apart.
	var awards []leaderboard.Award
	for i := range 50 {
		awards = append(awards, leaderboard.Award{User: userN(i), Offers: []level.XP{1}})
	}
	for range 2 {
		_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: awards})
		b.must(err)
	}
	b.change(userN(77), plusOne)
	if p := b.changesPage(10, -1, 0); len(p.Batch.Rows) != 50 || !p.More() {
		b.Errorf("%d rows, want all 50 of a step", len(p.Batch.Rows))
	}
}

// Whoever changes all the time is written no later than one that has changed once.
func changesInOrder(b *board) {
	b.load(rowN(1, 1), rowN(2, 2), rowN(3, 3))
	b.change(userN(1), plusOne)
	b.change(userN(2), plusOne)
	b.change(userN(1), plusOne)
	b.change(userN(3), plusOne)
	b.change(userN(1), plusOne)
	p := b.changesPage(1, -1, 0)
	if len(p.Batch.Rows) != 1 || p.Batch.Rows[0].UserID != userN(1) || p.Batch.Rows[0].XP != 4 || p.Batch.Rev != 1 {
		b.Fatalf("page %+v, want member 1, who was the first, as it is now", p)
	}
	b.change(userN(1), plusOne) // it was read, so it waits anew
	b.change(userN(2), plusOne) // it was not
	b.end(p.Batch)
	rest := b.changesPage(10, p.Batch.Rev, 0)
	if users := usersOf(rest.Batch); !slices.Equal(users, []id.User{userN(2), userN(3), userN(1)}) {
		b.Errorf("users %v", users)
	}
}
