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
	for done := 0; done < members; done += size {
		p := b.changesPage(size)
		want := min(size, members-done)
		if len(p.Batch.Rows) != want || p.Batch.Rev != int64(done+want) || p.Batch.AsOf != members || p.More() != (done+want < members) {
			b.Fatalf("the page has %d rows up to rev %d of %d, want %d", len(p.Batch.Rows), p.Batch.Rev, p.Batch.AsOf, want)
		}
		for i, row := range p.Batch.Rows {
			if n := done + i; row.UserID != userN(n) || row.XP != level.XP(3*n+1) {
				b.Fatalf("row %+v, want member %d with %d XP", row, n, 3*n+1)
			}
		}
		if more := b.end(p.Batch); more[0] != p.More() {
			b.Errorf("ending the page says more %v, want %v", more, p.More())
		}
	}
	b.nothingWaits()

	// Members changed by one step are in one page.
	var awards []leaderboard.Award
	for i := range 50 {
		awards = append(awards, leaderboard.Award{User: userN(i), Offers: []level.XP{1}})
	}
	for range 2 {
		_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: awards})
		b.must(err)
	}
	b.change(userN(77), plusOne)
	if p := b.changesPage(10); len(p.Batch.Rows) != 50 || !p.More() {
		b.Errorf("the page has %d rows, want all 50 of a step", len(p.Batch.Rows))
	}
}

// A member that changes all the time does not wait longer than one that changed once.
func changesInOrder(b *board) {
	b.load(rowN(1, 1), rowN(2, 2), rowN(3, 3))
	b.change(userN(1), plusOne)
	b.change(userN(2), plusOne)
	b.change(userN(1), plusOne)
	b.change(userN(3), plusOne)
	b.change(userN(1), plusOne)
	p := b.changesPage(1)
	if len(p.Batch.Rows) != 1 || p.Batch.Rows[0].UserID != userN(1) || p.Batch.Rows[0].XP != 4 || p.Batch.Rev != 1 {
		b.Fatalf("the page is %+v, want member 1, the first to change, as it is now", p)
	}
	b.change(userN(1), plusOne) // was read, so it waits again
	b.change(userN(2), plusOne) // was not read yet
	b.end(p.Batch)
	rest := b.changesPage(10)
	if users := usersOf(rest.Batch); !slices.Equal(users, []id.User{userN(2), userN(3), userN(1)}) {
		b.Errorf("the users are %v, want 2, 3 and 1", users)
	}
}
