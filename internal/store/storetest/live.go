package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var liveCases = []boardCase{
	{"the index of changed guilds", changedIndex},
	{"the cooldown survives", cooldownSurvives},
	{"hydration takes a lock", hydrationLock},
	{"a lost hydration lock", hydrationLost},
	{"an empty guild", emptyGuild},
	{"hydration over an old incarnation", hydrateOverOld},
	{"10,000 members in chunks", manyMembers},
	{"an aborted hydration leaves nothing", abortHydration},
	{"one of many hydrations at once", concurrentHydrations},
	{"drop", drop},
	{"drop stops a hydration", dropStopsHydration},
	{"who writes a last snapshot", lastSnapshots},
}

func lastSnapshots(b *board) {
	ctx := b.Context()
	is := func(want string) {
		b.Helper()
		if who, err := b.Last(ctx); who != want || err != nil {
			b.Errorf("%q writes a last snapshot (%v), want %q", who, err, want)
		}
	}
	is("")
	b.must(b.EndLast(ctx, "first"))
	b.must(b.BeginLast(ctx, "first", time.Hour))
	is("first")
	b.must(b.BeginLast(ctx, "second", time.Hour))
	b.must(b.EndLast(ctx, "first")) // too late
	is("second")
	b.must(b.EndLast(ctx, "second"))
	is("")
	b.must(b.BeginLast(ctx, "killed", time.Millisecond))
	for deadline := time.Now().Add(10 * time.Second); ; {
		who, err := b.Last(ctx)
		b.must(err)
		if who == "" {
			return
		}
		if time.Now().After(deadline) {
			b.Fatal("the note of a process that was killed stays")
		}
	}
}

func (b *board) changedGuilds(want ...id.Guild) {
	b.Helper()
	got, err := b.ChangedGuilds(b.Context())
	b.must(err)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		b.Errorf("changed guilds %v, want %v", got, want)
	}
}

func changedIndex(b *board) {
	a, z := b.g, leaderboard.GuildRef{ID: "999999999999999999", Incarnation: 1}
	b.load(rowN(1, 1), rowN(2, 2))
	b.hydrate(z, snapshot.State{Epoch: 1}, rowN(1, 1))
	b.changedGuilds()
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
	b.delete(userN(2))
	b.changedGuilds(a.ID)
	b.changedGuilds()

	// What is taken out but not flushed is put back by the writer, not by the next change.
	b.must(b.MarkChanged(b.Context(), a.ID))
	_, err := b.Create(b.Context(), z, userN(3), leaderboard.Creation{XP: 1})
	b.must(err)
	b.changedGuilds(a.ID, z.ID)

	b.flushAll()
	b.create(userN(4), 1)
	b.changedGuilds(a.ID)

	guilds, err := b.LoadedGuilds(b.Context())
	b.must(err)
	slices.Sort(guilds)
	if want := []id.Guild{a.ID, z.ID}; !slices.Equal(guilds, want) {
		b.Errorf("loaded guilds %v, want %v", guilds, want)
	}

	var many []id.Guild
	for i := range 2500 {
		g := id.Guild(fmt.Sprintf("4%017d", i))
		many = append(many, g)
		b.must(b.MarkChanged(b.Context(), g))
	}
	b.changedGuilds(many...)
}

func cooldownSurvives(b *board) {
	b.load(rowN(1, 1))
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 1, Cooldown: time.Hour})
	rows := b.flushAll()
	if len(rows) != 1 {
		b.Fatalf("flushed %+v, want one row", rows)
	}
	until := rows[0].CooldownUntil
	if want := rows[0].LastUpdated.Add(time.Hour); !until.Equal(want) {
		b.Errorf("cooldown until %v, want %v", until, want)
	}

	b.must(b.Drop(b.Context(), b.g))
	b.hydrate(b.g, snapshot.State{Epoch: 2}, rows...)
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Set, Amount: 3})
	if rows = b.flushAll(); !rows[0].CooldownUntil.Equal(until) {
		b.Errorf("cooldown until %v after a hydration and a change without one, want %v", rows[0].CooldownUntil, until)
	}

	b.change(userN(1), leaderboard.Change{Op: leaderboard.Set, Amount: 3, Cooldown: time.Nanosecond})
	rows = b.flushAll()
	if want := rows[0].LastUpdated.Add(time.Millisecond); !rows[0].CooldownUntil.Equal(want) {
		b.Errorf("cooldown of a nanosecond ends at %v, want %v", rows[0].CooldownUntil, want)
	}

	b.delete(userN(1))
	b.create(userN(1), 1)
	if rows = b.flushAll(); !rows[0].CooldownUntil.IsZero() {
		b.Errorf("a new entry has the cooldown of the deleted one, until %v", rows[0].CooldownUntil)
	}
}

// begin begins a hydration and wants it to find that.
func (b *board) begin(g leaderboard.GuildRef, archived snapshot.State, want snapshot.Found) snapshot.Hydration {
	b.Helper()
	h, found, err := b.BeginHydration(b.Context(), g, archived)
	b.must(err)
	if found != want {
		b.Fatalf("hydration of %v: found %v, want %v", g, found, want)
	}
	return h
}

func hydrationLock(b *board) {
	ctx := b.Context()
	h := b.begin(b.g, snapshot.State{}, snapshot.FoundNothing)
	if h.Guild != b.g || h.Token == "" {
		b.Fatalf("begin: %+v", h)
	}
	b.begin(b.g, snapshot.State{}, snapshot.FoundBusy)
	b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(1, 1)}))
	_, err := b.Version(ctx, b.g)
	b.wants("version before the commit", err, leaderboard.ErrNotLoaded)
	if guilds, err := b.LoadedGuilds(ctx); err != nil || len(guilds) != 0 {
		b.Errorf("loaded guilds before the commit: %v, %v, want none", guilds, err)
	}
	b.must(b.CommitHydration(ctx, h, snapshot.State{Epoch: 1}))
	b.begin(b.g, snapshot.State{Epoch: 1}, snapshot.FoundLoaded)
	b.wants("commit again", b.CommitHydration(ctx, h, snapshot.State{Epoch: 9}), snapshot.ErrHydrationLost)
	b.wants("a chunk after the commit", b.LoadChunk(ctx, h, []snapshot.Row{rowN(2, 1)}), snapshot.ErrHydrationLost)
	if p := b.page(0, 10); len(p.Rows) != 1 || p.Version.Epoch != 1 {
		b.Errorf("page %+v, want one row at epoch 1", p)
	}
}

func hydrationLost(b *board) {
	ctx := b.Context()
	lost := b.begin(b.g, snapshot.State{}, snapshot.FoundNothing)
	b.must(b.LoadChunk(ctx, lost, []snapshot.Row{rowN(1, 1)}))
	b.must(b.AbortHydration(ctx, lost))
	b.wants("a chunk without the lock", b.LoadChunk(ctx, lost, []snapshot.Row{rowN(2, 1)}), snapshot.ErrHydrationLost)

	h := b.begin(b.g, snapshot.State{}, snapshot.FoundNothing)
	b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(3, 3)}))
	b.wants("a chunk with another's lock", b.LoadChunk(ctx, lost, []snapshot.Row{rowN(2, 1)}), snapshot.ErrHydrationLost)
	b.wants("commit with another's lock", b.CommitHydration(ctx, lost, snapshot.State{Epoch: 1}), snapshot.ErrHydrationLost)
	b.must(b.AbortHydration(ctx, lost))
	b.must(b.CommitHydration(ctx, h, snapshot.State{Epoch: 2}))
	if p := b.page(0, 10); len(p.Rows) != 1 || p.Rows[0].UserID != userN(3) || p.Version.Epoch != 2 {
		b.Errorf("page %+v, want member 3 alone at epoch 2", p)
	}
}

func emptyGuild(b *board) {
	b.hydrate(b.g, snapshot.State{Epoch: 5, Archived: 9})
	if p := b.page(0, 100); len(p.Rows) != 0 || p.Version != (leaderboard.Version{Epoch: 5, Rev: 9}) {
		b.Errorf("page %+v, want no rows at epoch 5, rev 9", p)
	}
	_, err := b.Member(b.Context(), b.g, userN(1))
	b.wants("a member of an empty guild", err, leaderboard.ErrNoMember)
	b.create(userN(1), 1)
	if m := b.member(userN(1)); m.Rank != 1 {
		b.Errorf("rank %d, want 1", m.Rank)
	}
}

func hydrateOverOld(b *board) {
	b.load(rowN(1, 1), rowN(2, 2))
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})

	old := b.g
	b.g.Incarnation++
	b.hydrate(b.g, snapshot.State{Epoch: 1}, rowN(3, 3))
	if p := b.page(0, 10); len(p.Rows) != 1 || p.Rows[0].UserID != userN(3) || p.Version.Rev != 0 {
		b.Errorf("page %+v, want nothing of the old incarnation", p)
	}
	b.nothingWaits()
	_, err := b.Version(b.Context(), old)
	b.wants("the old incarnation", err, leaderboard.ErrNotLoaded)

	// A guild without members leaves nothing of the old ones either.
	b.g.Incarnation++
	b.hydrate(b.g, snapshot.State{Epoch: 1})
	if p := b.page(0, 10); len(p.Rows) != 0 {
		b.Errorf("page %+v, want no rows", p)
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
	h := b.begin(b.g, snapshot.State{}, snapshot.FoundNothing)
	for chunk := range slices.Chunk(rows, 2300) {
		b.must(b.LoadChunk(ctx, h, chunk))
	}
	b.must(b.CommitHydration(ctx, h, snapshot.State{Epoch: 1}))
	_, err := b.Member(ctx, b.g, userN(members))
	b.wants("a tombstone", err, leaderboard.ErrNoMember)

	const skipped, read = 500, 9000
	p := b.page(skipped, read)
	if len(p.Rows) != read {
		b.Fatalf("%d rows, want %d", len(p.Rows), read)
	}
	for i, row := range p.Rows {
		if want := rows[members-1-skipped-i].Member; !reflect.DeepEqual(row.Member, want) {
			b.Fatalf("row %d: %+v, want %+v", i, row.Member, want)
		}
	}
}

func abortHydration(b *board) {
	ctx := b.Context()
	h := b.begin(b.g, snapshot.State{}, snapshot.FoundNothing)
	b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(1, 1)}))
	b.must(b.AbortHydration(ctx, h))
	b.must(b.AbortHydration(ctx, h))
	_, err := b.Version(ctx, b.g)
	b.wants("after an abort", err, leaderboard.ErrNotLoaded)
	b.load()
	if p := b.page(0, 10); len(p.Rows) != 0 {
		b.Errorf("page %+v, want nothing of the aborted hydration", p)
	}
}

func concurrentHydrations(b *board) {
	ctx := b.Context()
	var taken []snapshot.Hydration
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			h, found, err := b.BeginHydration(ctx, b.g, snapshot.State{})
			if err != nil || (found != snapshot.FoundNothing && found != snapshot.FoundBusy) {
				b.Errorf("begin: found %v, %v", found, err)
			}
			if found != snapshot.FoundBusy {
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

func drop(b *board) {
	ctx := b.Context()
	b.must(b.Drop(ctx, b.g))
	b.load(rowN(1, 1), rowN(2, 2))
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})

	other := leaderboard.GuildRef{ID: b.g.ID, Incarnation: b.g.Incarnation + 1}
	b.must(b.Drop(ctx, other))
	if p := b.page(0, 10); len(p.Rows) != 2 {
		b.Errorf("page %+v after another incarnation was dropped, want it untouched", p)
	}

	b.must(b.Drop(ctx, b.g))
	_, err := b.Version(ctx, b.g)
	b.wants("after drop", err, leaderboard.ErrNotLoaded)
	b.nothingWaits()
	if guilds, err := b.LoadedGuilds(ctx); err != nil || len(guilds) != 0 {
		b.Errorf("loaded guilds after drop: %v, %v, want none", guilds, err)
	}
	b.load()
	if p := b.page(0, 10); len(p.Rows) != 0 {
		b.Errorf("page %+v, want nothing of what was dropped", p)
	}
}

func dropStopsHydration(b *board) {
	ctx := b.Context()
	h := b.begin(b.g, snapshot.State{}, snapshot.FoundNothing)
	b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(1, 1)}))

	// The digits of one incarnation may begin with those of another.
	for _, other := range []guild.Incarnation{700, 70012} {
		b.must(b.Drop(ctx, leaderboard.GuildRef{ID: b.g.ID, Incarnation: other}))
		b.must(b.LoadChunk(ctx, h, []snapshot.Row{rowN(2, 1)}))
	}
	b.must(b.Drop(ctx, b.g))
	b.wants("commit after drop", b.CommitHydration(ctx, h, snapshot.State{Epoch: 1}), snapshot.ErrHydrationLost)
	_, err := b.Version(ctx, b.g)
	b.wants("after drop", err, leaderboard.ErrNotLoaded)
}
