package storetest

import (
	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func drop(b *board) {
	ctx := b.Context()
	b.must(b.Drop(ctx, b.g))
	b.load(rowN(1, 1), rowN(2, 2))
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})

	other := leaderboard.GuildRef{ID: b.g.ID, Incarnation: b.g.Incarnation + 1}
	b.must(b.Drop(ctx, other))
	if p := b.page(0, 10); len(p.Rows) != 2 {
		b.Errorf("after another incarnation was dropped the page is %+v, want 2 rows", p)
	}

	b.must(b.Drop(ctx, b.g))
	_, err := b.Version(ctx, b.g)
	b.wants("after drop", err, leaderboard.ErrNotLoaded)
	b.nothingWaits()
	if guilds, err := b.LoadedGuilds(ctx); err != nil || len(guilds) != 0 {
		b.Errorf("after the drop %v are loaded (%v), want none", guilds, err)
	}
	b.load()
	if p := b.page(0, 10); len(p.Rows) != 0 {
		b.Errorf("after the drop and a load the page is %+v, want no rows", p)
	}
}

func dropStopsHydration(b *board) {
	ctx := b.Context()
	h := b.begin(b.g, snapshot.State{}, hydrate.FoundNothing)
	b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(1, 1)}))

	// The digits of one incarnation may begin with another's.
	for _, other := range []guild.Incarnation{700, 70012} {
		b.must(b.Drop(ctx, leaderboard.GuildRef{ID: b.g.ID, Incarnation: other}))
		b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(2, 1)}))
	}
	b.must(b.Drop(ctx, b.g))
	b.wants("commit after drop", b.CommitHydration(ctx, h, snapshot.State{Epoch: 1}), hydrate.ErrLost)
	_, err := b.Version(ctx, b.g)
	b.wants("after drop", err, leaderboard.ErrNotLoaded)
}
