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
		b.Errorf("a guild that is not loaded has the page %+v, want none", p)
	}
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 10), rowN(2, 20), rowN(3, 30))
	b.nothingWaits()
	if p := b.changesPage(10); p.Batch.Guild != b.g || p.More() {
		b.Errorf("a guild without changes has the page %+v, want its reference only", p)
	}

	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 5})
	b.delete(userN(2))
	b.create(userN(4), 40)
	p := b.changesPage(10)
	batch := p.Batch
	if batch.Guild != b.g || batch.Epoch != 4 || batch.Rev != 13 || batch.Known != 10 || batch.Archived != 10 || batch.AsOf != 13 || p.More() {
		b.Fatalf("the page is %+v, want guild %v, epoch 4, rev 13, known 10", p, b.g)
	}
	if users := usersOf(batch); !slices.Equal(users, []id.User{userN(1), userN(2), userN(4)}) {
		b.Fatalf("the users are %v, want 1, 2 and 4", users)
	}
	tombstone := snapshot.Row{Member: leaderboard.Member{UserID: userN(2)}, Deleted: true}
	if !reflect.DeepEqual(batch.Rows[1], tombstone) {
		b.Errorf("the row of a deleted member is %+v, want %+v", batch.Rows[1], tombstone)
	}
	for _, i := range []int{0, 2} {
		want := snapshot.Row{Member: b.member(batch.Rows[i].UserID).Member}
		if !reflect.DeepEqual(batch.Rows[i], want) {
			b.Errorf("the row is %+v, want %+v", batch.Rows[i], want)
		}
	}
	for range 2 { // ending it again changes nothing
		if more := b.end(batch); more[0] {
			b.Error("more changes wait after the only batch was ended")
		}
	}
	b.nothingWaits()
	if v, err := b.Version(b.Context(), b.g); err != nil || v.Rev != 13 {
		b.Errorf("after reads the version is %+v (%v), want rev 13", v, err)
	}
	// Ending a batch notes what is archived.
	b.change(userN(1), plusOne)
	if p := b.changesPage(10); p.Batch.Known != 13 || p.Batch.Archived != 13 || p.Batch.Rev != 14 {
		b.Errorf("the page is %+v, want rev 14, known and archived 13", p)
	}
}

func changesAge(b *board) {
	ctx := b.Context()
	backlog := func(members int64, least time.Duration, after time.Time) {
		b.Helper()
		got, err := b.Backlog(ctx, []id.Guild{b.g.ID})
		b.must(err)
		most := time.Since(after) + time.Millisecond // Redis' clock has milliseconds
		if got.Members != members || got.Oldest < least || members > 0 && got.Oldest > most {
			b.Errorf("the backlog is %+v, want %d members, the oldest change between %v and %v ago", got, members, least, most)
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
	p.Batch.Before = time.Time{} // as on a page that is not the last
	b.end(p.Batch)
	backlog(1, later, read)
	b.flushAll()
	backlog(0, 0, time.Now())
}
