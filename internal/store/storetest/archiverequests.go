package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/snapshot"
)

// recordAt returns a record of a request of that name, made at a rev for those users.
func recordAt(name string, rev int64, users ...id.User) snapshot.Record {
	named := onceOf(name, name)
	return snapshot.Record{
		Name: named.Key, Request: named.Request, Rev: rev, At: time.Now().Truncate(time.Millisecond), Outcome: "outcome of " + name, Users: users,
	}
}

// wantPast compares what the archive knows of requests: "made", "not made", or the users who lost it.
func wantPast(t *testing.T, a store.Archive, g *guild.Guild, when string, want map[string]any) {
	t.Helper()
	for name, want := range want {
		named := onceOf(name, name)
		p := mustGet(a.Past(t.Context(), refOf(g), named.Key))(t)
		lost, _ := want.([]id.User)
		if p.Made != (want != "not made") || p.Made && (p.Request != named.Request || p.Outcome != "outcome of "+name || !slices.Equal(p.Lost, lost)) {
			t.Errorf("%s: request %s is %+v, want %v", when, name, p, want)
		}
	}
}

func archiveRequests(t *testing.T, a store.Archive) {
	const one, two id.User = "300000000000000001", "300000000000000002"
	l := leased(t, a)
	write := func(b snapshot.Batch) {
		t.Helper()
		must(t, snapshot.WriteBatch(t.Context(), a, l, b))
	}
	raise := func(g *guild.Guild, kept int64) {
		t.Helper()
		mustGet(a.RaiseEpoch(t.Context(), refOf(g), mustGet(a.State(t.Context(), refOf(g)))(t), kept))(t)
	}
	for i, kept := range []int64{0, 9} {
		g := put(t, a, settingsOf(t, []id.Guild{guildA, guildB}[i], ""))
		// The batch has one of two waiting members and the whole journal.
		first := snapshot.Batch{
			Guild: refOf(g), Known: 5, Rev: 5, AsOf: 10, Rows: []snapshot.Row{row(one, 1)},
			Records: []snapshot.Record{
				recordAt("archived", 3, one), recordAt("of a row", 8, one), recordAt("of no row", 9, two), recordAt("of both", 10, one, two),
			},
		}
		write(first)
		write(first)
		wantPast(t, a, g, "while nothing is lost", map[string]any{
			"archived": "made", "of a row": "made", "of no row": "made", "of both": "made", "another": "not made",
		})
		raise(g, kept)
		after := map[string]any{"archived": "made", "of a row": "made", "of no row": "not made", "of both": []id.User{two}}
		if kept > 0 {
			after["of no row"] = "made" // the live store still has it
		}
		wantPast(t, a, g, "after a load", after)

		// Then the other member is written, and lost requests are made again.
		again := recordAt("of both", 12, two)
		write(snapshot.Batch{Guild: refOf(g), Epoch: 1, Known: 5, Rev: 12, AsOf: 12, Rows: []snapshot.Row{row(two, 1)}, Records: []snapshot.Record{again, again}})
		raise(g, 0)
		after["of both"] = "made"
		wantPast(t, a, g, "after the next one", after)
	}

	// The last page of waiting members says that all up to its rev is archived, so no load must read the records.
	g := put(t, a, settingsOf(t, "100000000000000003", ""))
	write(snapshot.Batch{
		Guild: refOf(g), Known: 5, Rev: 5, AsOf: 11, Rows: []snapshot.Row{row(one, 1)},
		Records: []snapshot.Record{recordAt("of the next page", 10, two), recordAt("of none", 11, two)},
	})
	write(snapshot.Batch{Guild: refOf(g), Known: 10, Rev: 10, AsOf: 11})
	raise(g, hydrate.Reloaded)
	wantPast(t, a, g, "after the last page", map[string]any{"of the next page": "made", "of none": "not made"})
}

// A live store that went back, in the archive's epoch or an earlier one, has its request records salvaged with their effects.
func archiveRequestsSalvaged(t *testing.T, a store.Archive) {
	const one, two, gone id.User = "300000000000000001", "300000000000000002", "300000000000000003"
	l := leased(t, a)
	for i, g := range []id.Guild{guildA, guildB} {
		g := put(t, a, settingsOf(t, g, ""))
		writeRows(t, a, l, g, 0, 10, row(one, 1), row(gone, 1))
		for range i {
			mustGet(a.RaiseEpoch(t.Context(), refOf(g), mustGet(a.State(t.Context(), refOf(g)))(t), hydrate.Reloaded))(t)
		}
		from := mustGet(a.State(t.Context(), refOf(g)))(t)
		// After a crash between two batches, the second member's change is lost with the live store.
		for _, b := range []snapshot.Batch{
			{Records: []snapshot.Record{recordAt("salvaged", 6, one), recordAt("cut off", 7, two), recordAt("deleted", 8, gone)}},
			{Rows: []snapshot.Row{row(one, 1), tombstone(gone)}},
		} {
			b.Guild, b.Rev, b.Known = refOf(g), 8, 4
			must(t, a.Salvage(t.Context(), from, b))
		}
		mustGet(a.RaiseEpoch(t.Context(), refOf(g), from, hydrate.Reloaded))(t)
		want := map[string]any{"salvaged": "made", "cut off": "not made", "deleted": "made"}
		if i > 0 {
			want["deleted"] = "not made" // the member exists again
		}
		wantPast(t, a, g, fmt.Sprintf("after a salvage of epoch %d", i), want)
	}
}

func archiveRequestsPurged(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	old := recordAt("old", 1, "300000000000000001")
	old.At = old.At.Add(-3 * time.Hour)
	b := snapshot.Batch{Guild: refOf(g), Rev: 2, Records: []snapshot.Record{old, recordAt("young", 2, "300000000000000001")}}
	must(t, snapshot.WriteBatch(t.Context(), a, leased(t, a), b))
	if n, err := a.Purge(t.Context(), 100, snapshot.Keep{Tombstones: time.Hour, Requests: 2 * time.Hour}); err != nil || n != 1 {
		t.Errorf("purged %d rows (%v), want 1", n, err)
	}
	wantPast(t, a, g, "after a purge", map[string]any{"old": "not made", "young": "made"})
}
