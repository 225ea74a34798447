package storetest

import (
	"reflect"
	"slices"
	"sync"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func hydrateOverOld(b *board) {
	b.load(rowN(1, 1), rowN(2, 2))
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})

	old := b.g
	b.g.Incarnation++
	b.hydrate(b.g, snapshot.State{Epoch: 1}, rowN(3, 3))
	if p := b.page(0, 10); len(p.Rows) != 1 || p.Rows[0].UserID != userN(3) || p.Version.Rev != 0 {
		b.Errorf("the page is %+v, want nothing of the old incarnation", p)
	}
	b.nothingWaits()
	_, err := b.Version(b.Context(), old)
	b.wants("the old incarnation", err, leaderboard.ErrNotLoaded)

	// Nor does a guild without members keep any of the old ones.
	b.g.Incarnation++
	b.hydrate(b.g, snapshot.State{Epoch: 1})
	if p := b.page(0, 10); len(p.Rows) != 0 {
		b.Errorf("the page is %+v, want no rows", p)
	}
}

func manyMembers(b *board) {
	const members = 10_000
	ctx := b.Context()
	rows := make([]snapshot.Row, members)
	for i := range rows {
		rows[i] = rowN(i, level.XP(i*3))
	}
	rows = append(rows, snapshot.Row{Member: leaderboard.Member{UserID: userN(members)}, Deleted: true})
	h := b.begin(b.g, snapshot.State{}, hydrate.FoundNothing)
	for chunk := range slices.Chunk(rows, 2300) {
		b.must(b.LoadChunk(ctx, h, chunk))
	}
	b.must(b.CommitHydration(ctx, h, snapshot.State{Epoch: 1}))
	_, err := b.Member(ctx, b.g, userN(members))
	b.wants("a tombstone", err, leaderboard.ErrNoMember)

	const skipped, read = 500, 9000
	p := b.page(skipped, read)
	if len(p.Rows) != read {
		b.Fatalf("the page has %d rows, want %d", len(p.Rows), read)
	}
	for i, row := range p.Rows {
		if want := rows[members-1-skipped-i].Member; !reflect.DeepEqual(row.Member, want) {
			b.Fatalf("row %d is %+v, want %+v", i, row.Member, want)
		}
	}
}

func concurrentHydrations(b *board) {
	ctx := b.Context()
	var taken []hydrate.Lock
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			h, found, err := b.BeginHydration(ctx, b.g, snapshot.State{})
			if err != nil || (found != hydrate.FoundNothing && found != hydrate.FoundBusy) {
				b.Errorf("beginning a hydration found %v (%v), want nothing or busy", found, err)
			}
			if found != hydrate.FoundBusy {
				mu.Lock()
				defer mu.Unlock()
				taken = append(taken, h)
			}
		})
	}
	all.Wait()
	if len(taken) != 1 {
		b.Errorf("%d hydrations hold the lock, want 1", len(taken))
	}
}
