package storetest

import (
	"reflect"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Each guild has its own answer, with the load that its changes belong to.
func changesOneByOne(b *board) {
	ctx := b.Context()
	guilds := b.manyGuilds(5)
	var refs []leaderboard.GuildRef
	for _, g := range guilds {
		b.addTo(g.GuildRef, 1)
		refs = append(refs, g.GuildRef)
	}
	b.must(b.Drop(ctx, refs[1]))
	b.must(b.Distrust(ctx, snapshot.Batch{Guild: refs[2], Epoch: guilds[2].Epoch}))
	b.must(b.Drop(ctx, refs[3]))
	created := leaderboard.GuildRef{ID: refs[3].ID, Incarnation: 999}
	b.hydrate(created, snapshot.State{Epoch: 7, Archived: 8}, rowN(1, 1))
	b.addTo(created, 1)
	got := b.pages(100, refs...)
	if p := got[1]; !reflect.DeepEqual(p, snapshot.Page{}) {
		b.Errorf("a guild that is not loaded has the changes %+v, want none", p)
	}
	b.wants("changes of a guild that was not compared with the archive", got[2].Err, snapshot.ErrUnverified)
	if got[2].Batch.Guild != refs[2] {
		b.Errorf("the page of a guild to be verified is %+v, want its reference", got[2])
	}
	for i, want := range map[int]loadedGuild{0: guilds[0], 3: {created, snapshot.State{Epoch: 7, Archived: 8}}, 4: guilds[4]} {
		b.must(got[i].Err)
		c := got[i].Batch
		if len(c.Rows) != 1 || c.Rows[0].XP != 2 || c.Guild != want.GuildRef || c.Epoch != want.Epoch || c.Known != want.Archived {
			b.Errorf("guild %d has the page %+v, want one row with 2 XP of its load", i, got[i])
		}
	}

	b.must(b.Drop(ctx, refs[4]))
	b.hydrate(refs[4], snapshot.State{Epoch: 50, Archived: 60}, rowN(1, 1))
	b.addTo(refs[4], 1)
	more, errs := b.EndChanges(ctx, []snapshot.Batch{got[0].Batch, got[4].Batch})
	if b.must(errs[0]); more[0] {
		b.Error("a guild without later changes still has some")
	}
	b.wants("the end of changes of an earlier load", errs[1], leaderboard.ErrNotLoaded)
	if p := b.pages(10, refs[4])[0]; p.Batch.Known != 60 || len(p.Batch.Rows) != 1 {
		b.Errorf("ending changes of an earlier load made %+v, want one row, known 60", p)
	}
}

func changesOfNobody(b *board) {
	ctx := b.Context()
	more, errs := b.EndChanges(ctx, nil)
	if n := len(b.ReadChanges(ctx, nil, 10)) + len(more) + len(errs); n > 0 {
		b.Errorf("asking about no guilds gave %d answers", n)
	}
	// More guilds than fit one round trip.
	var asked []leaderboard.GuildRef
	for i := range 1200 {
		asked = append(asked, leaderboard.GuildRef{ID: id.Guild(userN(i))})
	}
	b.load(rowN(1, 1))
	b.addTo(b.g, 1)
	for i, got := range b.pages(10, append(asked, b.g)...) {
		b.must(got.Err)
		if want := i / 1200; len(got.Batch.Rows) != want { // only the last one is loaded
			b.Errorf("guild %d has %d rows, want %d", i, len(got.Batch.Rows), want)
		}
	}
}
