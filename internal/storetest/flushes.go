package storetest

import (
	"slices"

	"levelboard/internal/guild"
	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
	"levelboard/internal/snapshot"
)

var flushesCases = []boardCase{
	{"flushes of many guilds", flushes},
	{"a flush of many finds what was left behind", flushesLeftBehind},
	{"of many flushes each has its own answer", flushesOneByOne},
	{"flushes of nobody", flushesOfNobody},
}

// manyGuilds loads guilds with three members each.
func (b *board) manyGuilds(count int) (guilds []leaderboard.GuildRef, ids []id.Guild) {
	b.Helper()
	for i := range count {
		g := leaderboard.GuildRef{ID: id.Guild(userN(i)), Incarnation: guild.Incarnation(100 + i)}
		b.hydrate(g, snapshot.State{Epoch: int64(i + 1), Archived: int64(10 * i)}, rowN(1, 1), rowN(2, 2), rowN(3, 3))
		guilds, ids = append(guilds, g), append(ids, g.ID)
	}
	return guilds, ids
}

func (b *board) addTo(g leaderboard.GuildRef, users ...int) {
	b.Helper()
	for _, i := range users {
		_, err := b.Change(b.Context(), g, userN(i), plusOne)
		b.must(err)
	}
}

// begun are the flushes of guilds all of which have changed.
func (b *board) begun(ids []id.Guild, small int) (begun []snapshot.Begun, flushes []snapshot.Flush) {
	b.Helper()
	begun = b.BeginFlushes(b.Context(), ids, small)
	for i := range begun {
		b.must(begun[i].Err)
		if !begun[i].OK || begun[i].Flush.Guild.ID != ids[i] {
			b.Fatalf("begun %+v, want a flush of guild %s", begun[i], ids[i])
		}
		flushes = append(flushes, begun[i].Flush)
	}
	return begun, flushes
}

func flushes(b *board) {
	ctx := b.Context()
	guilds, ids := b.manyGuilds(6)
	for _, g := range guilds[2:] {
		b.addTo(g, 1, 2)
	}
	b.addTo(guilds[5], 3)
	_, err := b.Delete(ctx, guilds[4], userN(2), leaderboard.Once{})
	b.must(err)

	asked := append(slices.Clone(ids), "999999999999999999") // and one that is not loaded
	begun := b.BeginFlushes(ctx, asked, 2)
	for i, got := range begun {
		b.must(got.Err)
		slices.Sort(got.Users)
		switch {
		case i == 6 && (got.OK || got.Flush != (snapshot.Flush{})):
			b.Errorf("of a guild that is not loaded: %+v", got)
		case i < 2 && (got.OK || got.Flush.Guild != guilds[i]):
			b.Errorf("of a guild without changes: %+v, want its incarnation alone", got)
		case i == 5 && (!got.OK || got.Flush.Size != 3 || len(got.Users) > 0):
			b.Errorf("of a guild with more changes than are small: %+v, want its size and no users", got)
		case i > 1 && i < 5 && (!got.OK || got.Left || got.Flush.Guild != guilds[i] || got.Flush.Epoch != int64(i+1) || got.Flush.Size != 2 ||
			!slices.Equal(got.Users, []id.User{userN(1), userN(2)})):
			b.Errorf("of guild %d: %+v", i, got)
		}
	}

	small := begun[2:5]
	batches, errs := b.ReadBatches(ctx, small)
	var flushes []snapshot.Flush
	var revs []int64
	for i, batch := range batches {
		b.must(errs[i])
		rev := int64(10*(i+2) + 2)
		if i == 2 {
			rev++ // for the member that was deleted
		}
		if batch.Guild != guilds[i+2] || batch.Epoch != int64(i+3) || batch.Rev != rev || batch.Known != int64(10*(i+2)) || len(batch.Rows) != 2 {
			b.Errorf("batch %+v", batch)
		}
		for _, row := range batch.Rows {
			if deleted := i == 2 && row.UserID == userN(2); row.Deleted != deleted || !deleted && row.XP < 2 {
				b.Errorf("guild %d: row %+v", i+2, row)
			}
		}
		flushes, revs = append(flushes, small[i].Flush), append(revs, batch.Rev)
	}
	b.addTo(guilds[3], 3)
	for range 2 { // to end a flush again changes nothing
		for _, err := range b.EndFlushes(ctx, flushes, revs) {
			b.must(err)
		}
	}
	for i, got := range b.BeginFlushes(ctx, ids, 2) {
		b.must(got.Err)
		if want := i == 3 || i == 5; got.OK != want || got.Left != (i == 5) {
			b.Errorf("guild %d, once its flush has ended: %+v", i, got)
		}
	}
	// What was archived is noted: the archive holds nothing that this store does not know of.
	f := flushes[0]
	f.Archived = revs[0]
	batch, err := b.ReadBatch(ctx, f, nil)
	if err != nil || batch.Known != revs[0] {
		b.Errorf("batch %+v, %v; want to know of %d", batch, err, revs[0])
	}
}

func flushesLeftBehind(b *board) {
	ctx := b.Context()
	guilds, ids := b.manyGuilds(3)
	for _, g := range guilds {
		b.addTo(g, 1)
	}
	first, _, err := b.BeginFlush(ctx, ids[1])
	b.must(err)
	b.addTo(guilds[1], 2)
	begun, flushes := b.begun(ids, 100)
	for i, got := range begun {
		if got.Left != (i == 1) || !slices.Equal(got.Users, []id.User{userN(1)}) {
			b.Errorf("guild %d: %+v", i, got)
		}
	}
	if begun[1].Flush != first {
		b.Errorf("flush %+v after %+v was cut off", begun[1].Flush, first)
	}
	batches, _ := b.ReadBatches(ctx, begun)
	for _, err := range b.EndFlushes(ctx, flushes, []int64{batches[0].Rev, batches[1].Rev, batches[2].Rev}) {
		b.must(err)
	}
	second, _ := b.begun(ids[1:2], 100)
	if second[0].Left || second[0].Flush.ID == first.ID || !slices.Equal(second[0].Users, []id.User{userN(2)}) {
		b.Errorf("after what was left behind: %+v", second[0])
	}
}

// A guild that was loaded anew, or that went back in time, has an error of its own, and the others are served.
func flushesOneByOne(b *board) {
	ctx := b.Context()
	guilds, ids := b.manyGuilds(4)
	for _, g := range guilds {
		b.addTo(g, 1)
	}
	begun, flushes := b.begun(ids, 100)
	b.must(b.Drop(ctx, guilds[1]))
	b.hydrate(guilds[1], snapshot.State{Epoch: 50, Archived: 60}, rowN(1, 1))
	b.addTo(guilds[1], 1)
	begun[2].Flush.Archived = 99 // what this store was never told
	batches, errs := b.ReadBatches(ctx, begun)
	b.wants("a batch of an earlier load", errs[1], leaderboard.ErrNotLoaded)
	b.wants("a batch of a store that went back", errs[2], snapshot.ErrStale)
	for _, i := range []int{0, 3} {
		b.must(errs[i])
		if batches[i].Guild != guilds[i] || len(batches[i].Rows) != 1 || batches[i].Rows[0].XP != 2 {
			b.Errorf("batch %+v", batches[i])
		}
	}
	errs = b.EndFlushes(ctx, flushes, []int64{batches[0].Rev, 1000, batches[0].Rev, batches[3].Rev})
	b.wants("the end of a flush of an earlier load", errs[1], leaderboard.ErrNotLoaded)
	for _, i := range []int{0, 2, 3} {
		b.must(errs[i])
	}
	again, _ := b.begun(ids[1:2], 100)
	f := again[0].Flush
	f.Archived = 61
	if _, err := b.ReadBatch(ctx, f, nil); err == nil {
		b.Error("the end of a flush of an earlier load was noted")
	}
}

func flushesOfNobody(b *board) {
	ctx := b.Context()
	begun := b.BeginFlushes(ctx, nil, 10)
	batches, errs := b.ReadBatches(ctx, nil)
	if n := len(begun) + len(batches) + len(errs) + len(b.EndFlushes(ctx, nil, nil)); n > 0 {
		b.Errorf("%d answers about nobody", n)
	}
	// More than go in one round trip.
	var ids []id.Guild
	for i := range 1200 {
		ids = append(ids, id.Guild(userN(i)))
	}
	b.load(rowN(1, 1))
	b.addTo(b.g, 1)
	ids = append(ids, b.g.ID)
	for i, got := range b.BeginFlushes(ctx, ids, 10) {
		if b.must(got.Err); got.OK != (i == 1200) {
			b.Fatalf("guild %s: %+v", ids[i], got)
		}
	}
}
