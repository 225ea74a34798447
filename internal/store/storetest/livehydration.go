package storetest

import (
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// begin begins a hydration and fails unless it finds want.
func (b *board) begin(g leaderboard.GuildRef, archived snapshot.State, want hydrate.Found) hydrate.Lock {
	b.Helper()
	h, found, err := b.BeginHydration(b.Context(), g, archived)
	b.must(err)
	if found != want {
		b.Fatalf("the hydration of %v found %v, want %v", g, found, want)
	}
	return h
}

func hydrationLock(b *board) {
	ctx := b.Context()
	h := b.begin(b.g, snapshot.State{}, hydrate.FoundNothing)
	if h.Guild != b.g || h.Token == "" {
		b.Fatalf("the hydration's lock is %+v, want the guild and a token", h)
	}
	b.begin(b.g, snapshot.State{}, hydrate.FoundBusy)
	b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(1, 1)}))
	_, err := b.Version(ctx, b.g)
	b.wants("version before the commit", err, leaderboard.ErrNotLoaded)
	if guilds, err := b.LoadedGuilds(ctx); err != nil || len(guilds) != 0 {
		b.Errorf("before the commit %v are loaded (%v), want none", guilds, err)
	}
	b.must(b.CommitHydration(ctx, h, snapshot.State{Epoch: 1}))
	b.begin(b.g, snapshot.State{Epoch: 1}, hydrate.FoundLoaded)
	b.wants("commit again", b.CommitHydration(ctx, h, snapshot.State{Epoch: 9}), hydrate.ErrLost)
	b.wants("a chunk after the commit", b.LoadChunk(ctx, h, []snapshot.Row{rowN(2, 1)}), hydrate.ErrLost)
	if p := b.page(0, 10); len(p.Rows) != 1 || p.Version.Epoch != 1 {
		b.Errorf("the page is %+v, want one row at epoch 1", p)
	}
}

func hydrationLost(b *board) {
	ctx := b.Context()
	lost := b.begin(b.g, snapshot.State{}, hydrate.FoundNothing)
	b.must(b.LoadChunk(ctx, lost, []snapshot.Row{rowN(1, 1)}))
	b.must(b.AbortHydration(ctx, lost))
	b.wants("a chunk without the lock", b.LoadChunk(ctx, lost, []snapshot.Row{rowN(2, 1)}), hydrate.ErrLost)

	h := b.begin(b.g, snapshot.State{}, hydrate.FoundNothing)
	b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(3, 3)}))
	b.wants("a chunk with another's lock", b.LoadChunk(ctx, lost, []snapshot.Row{rowN(2, 1)}), hydrate.ErrLost)
	b.wants("commit with another's lock", b.CommitHydration(ctx, lost, snapshot.State{Epoch: 1}), hydrate.ErrLost)
	b.must(b.AbortHydration(ctx, lost))
	b.must(b.CommitHydration(ctx, h, snapshot.State{Epoch: 2}))
	if p := b.page(0, 10); len(p.Rows) != 1 || p.Rows[0].UserID != userN(3) || p.Version.Epoch != 2 {
		b.Errorf("the page is %+v, want only member 3 at epoch 2", p)
	}
}

func emptyGuild(b *board) {
	b.hydrate(b.g, snapshot.State{Epoch: 5, Archived: 9})
	if p := b.page(0, 100); len(p.Rows) != 0 || p.Version != (leaderboard.Version{Epoch: 5, Rev: 9}) {
		b.Errorf("the page is %+v, want no rows at epoch 5, rev 9", p)
	}
	_, err := b.Member(b.Context(), b.g, userN(1))
	b.wants("a member of an empty guild", err, leaderboard.ErrNoMember)
	b.create(userN(1), 1)
	if m := b.member(userN(1)); m.Rank != 1 {
		b.Errorf("the rank is %d, want 1", m.Rank)
	}
}

func abortHydration(b *board) {
	ctx := b.Context()
	h := b.begin(b.g, snapshot.State{}, hydrate.FoundNothing)
	b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(1, 1)}))
	b.must(b.AbortHydration(ctx, h))
	b.must(b.AbortHydration(ctx, h))
	_, err := b.Version(ctx, b.g)
	b.wants("after an abort", err, leaderboard.ErrNotLoaded)
	b.load()
	if p := b.page(0, 10); len(p.Rows) != 0 {
		b.Errorf("the page is %+v, want nothing of the aborted hydration", p)
	}
}
