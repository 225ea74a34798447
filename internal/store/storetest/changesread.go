package storetest

import (
	"reflect"
	"slices"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func changesReadAndEnded(b *board) {
	if p := b.changesPage(10); !reflect.DeepEqual(p, snapshot.Page{}) {
		b.Errorf("page %+v of a guild that is not loaded", p)
	}
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 10), rowN(2, 20), rowN(3, 30))
	b.nothingWaits()
	if p := b.changesPage(10); p.Batch.Guild != b.g || p.More() {
		b.Errorf("page %+v of a guild without changes, want to learn its incarnation", p)
	}

	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 5})
	b.delete(userN(2))
	b.create(userN(4), 40)
	p := b.changesPage(10)
	batch := p.Batch
	if batch.Guild != b.g || batch.Epoch != 4 || batch.Rev != 13 || batch.Known != 10 || batch.Archived != 10 || batch.AsOf != 13 || p.More() {
		b.Fatalf("page %+v, want guild %v, epoch 4, rev 13, 3 rows", p, b.g)
	}
	if users := usersOf(batch); !slices.Equal(users, []id.User{userN(1), userN(2), userN(4)}) {
		b.Fatalf("users %v", users)
	}
	tombstone := snapshot.Row{Member: leaderboard.Member{UserID: userN(2)}, Deleted: true}
	if !reflect.DeepEqual(batch.Rows[1], tombstone) {
		b.Errorf("row of a deleted member %+v, want %+v", batch.Rows[1], tombstone)
	}
	for _, i := range []int{0, 2} {
		want := snapshot.Row{Member: b.member(batch.Rows[i].UserID).Member}
		if !reflect.DeepEqual(batch.Rows[i], want) {
			b.Errorf("row %+v, want %+v", batch.Rows[i], want)
		}
	}
	for range 2 { // to end it again changes nothing
		if more := b.end(batch); more[0] {
			b.Error("more waits")
		}
	}
	b.nothingWaits()
	if v, err := b.Version(b.Context(), b.g); err != nil || v.Rev != 13 {
		b.Errorf("version %+v, %v: reading has changed it", v, err)
	}
	// Archived changes are noted.
	b.change(userN(1), plusOne)
	if p := b.changesPage(10); p.Batch.Known != 13 || p.Batch.Archived != 13 || p.Batch.Rev != 14 {
		b.Errorf("page %+v, want to know of rev 13", p)
	}
}

func changesAge(b *board) {
	ctx := b.Context()
	backlog := func(members int64, least time.Duration, after time.Time) {
		b.Helper()
		got, err := b.Backlog(ctx, []id.Guild{b.g.ID})
		b.must(err)
		most := time.Since(after) + time.Millisecond // Redis' clock is read in milliseconds
		if got.Members != members || got.Oldest < least || members > 0 && got.Oldest > most {
			b.Errorf("backlog %+v, want %d members, and the oldest change from %v to %v ago", got, members, least, most)
		}
	}
	const later = 40 * time.Millisecond
	b.load(rowN(1, 1), rowN(2, 2))
	backlog(0, 0, time.Now())
	first := time.Now()
	b.change(userN(1), plusOne)
	time.Sleep(later)
	read := time.Now()
	p := b.changesPage(10)
	b.change(userN(2), plusOne)
	backlog(2, later, first)
	b.end(p.Batch)
	backlog(1, 0, read)
	time.Sleep(later)
	p = b.changesPage(10)
	b.change(userN(2), plusOne)
	p.Batch.Before = time.Time{} // as of a page that is not the last
	b.end(p.Batch)
	backlog(1, later, read)
	b.flushAll()
	backlog(0, 0, time.Now())
}
