package storetest

import (
	"fmt"
	"slices"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var liveCases = []boardCase{
	{"the index of changed guilds", changedIndex},
	{"a cooldown survives a load", cooldownSurvives},
	{"hydration takes a lock", hydrationLock},
	{"a lost hydration lock stops a load", hydrationLost},
	{"an empty guild can be loaded", emptyGuild},
	{"hydration over an old incarnation", hydrateOverOld},
	{"10,000 members in chunks", manyMembers},
	{"an aborted hydration leaves nothing", abortHydration},
	{"one of many hydrations runs", concurrentHydrations},
	{"drop", drop},
	{"drop stops a hydration", dropStopsHydration},
}

func (b *board) changedGuilds(want ...id.Guild) {
	b.Helper()
	got, err := b.ChangedGuilds(b.Context())
	b.must(err)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		b.Errorf("the changed guilds are %v, want %v", got, want)
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

	// A guild that was taken out but not flushed comes back by the writer, not by the next change.
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
		b.Errorf("%v are loaded, want %v", guilds, want)
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
		b.Fatalf("the flush has %+v, want one row", rows)
	}
	until := rows[0].CooldownUntil
	if want := rows[0].LastUpdated.Add(time.Hour); !until.Equal(want) {
		b.Errorf("the cooldown ends at %v, want %v", until, want)
	}

	b.must(b.Drop(b.Context(), b.g))
	b.hydrate(b.g, snapshot.State{Epoch: 2}, rows...)
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Set, Amount: 3})
	if rows = b.flushAll(); !rows[0].CooldownUntil.Equal(until) {
		b.Errorf("after a load and a change the cooldown ends at %v, want %v", rows[0].CooldownUntil, until)
	}

	b.change(userN(1), leaderboard.Change{Op: leaderboard.Set, Amount: 3, Cooldown: time.Nanosecond})
	rows = b.flushAll()
	if want := rows[0].LastUpdated.Add(time.Millisecond); !rows[0].CooldownUntil.Equal(want) {
		b.Errorf("a cooldown of a nanosecond ends at %v, want %v", rows[0].CooldownUntil, want)
	}

	b.delete(userN(1))
	b.create(userN(1), 1)
	if rows = b.flushAll(); !rows[0].CooldownUntil.IsZero() {
		b.Errorf("a new entry has the deleted one's cooldown, until %v", rows[0].CooldownUntil)
	}
}
