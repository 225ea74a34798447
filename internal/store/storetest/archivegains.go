package storetest

import (
	"errors"
	"math"
	"slices"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

const (
	gainer1 id.User = "300000000000000001"
	gainer2 id.User = "300000000000000002"
	gainer3 id.User = "300000000000000003"
	gainer4 id.User = "40000000000000001"
)

// gainRow returns a row with gains: day, gain, day, gain.
func gainRow(user id.User, xp level.XP, gains ...int64) snapshot.Row {
	r := row(user, xp)
	for pair := range slices.Chunk(gains, 2) {
		r.Gains = append(r.Gains, period.Gain{Day: period.Day(pair[0]), Gained: pair[1]})
	}
	return r
}

func fresh(r snapshot.Row) snapshot.Row { r.Fresh = true; return r }

// wantGains compares all gains of a user with want: day, gain, day, gain, oldest first.
func wantGains(t *testing.T, a store.Archive, g *guild.Guild, user id.User, want ...int64) {
	t.Helper()
	var got []int64
	for _, gain := range mustGet(a.History(t.Context(), refOf(g), user, 0))(t) {
		got = append(got, int64(gain.Day), gain.Gained)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the gains of %s are %v, want %v", user, got, want)
	}
}

func archiveGains(t *testing.T, a store.Archive) {
	g, other := put(t, a, settingsOf(t, guildA, "")), put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	for range 2 { // writing a gain again changes nothing
		writeRows(t, a, l, g, 0, 1, gainRow(gainer1, 30, 100, 10, 101, 20), gainRow(gainer2, 0, 101, -5), row(gainer3, 1))
	}
	wantGains(t, a, g, gainer1, 100, 10, 101, 20)
	wantGains(t, a, g, gainer2, 101, -5)
	wantGains(t, a, g, gainer3)
	writeRows(t, a, l, g, 0, 2, gainRow(gainer1, 40, 102, 0, 101, 25))
	wantGains(t, a, g, gainer1, 100, 10, 101, 25, 102, 0)
	writeRows(t, a, l, g, 0, 3, row(gainer1, 41)) // names no day
	wantGains(t, a, g, gainer1, 100, 10, 101, 25, 102, 0)
	wantGains(t, a, other, gainer1)
	if got := mustGet(a.History(t.Context(), refOf(g), gainer1, 101))(t); len(got) != 2 || got[0].Day != 101 {
		t.Errorf("the history since day 101 is %+v, want two days", got)
	}
}

func archiveGainsDeleted(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 1, gainRow(gainer1, 3, 100, 10, 101, 20), gainRow(gainer2, 3, 100, 7, 101, 8))
	gone := gainRow(gainer1, 0, 101, 99)
	gone.Deleted = true
	for range 2 {
		writeRows(t, a, l, g, 0, 2, gone, fresh(gainRow(gainer2, 1, 101, 1)))
		wantGains(t, a, g, gainer1)
		wantGains(t, a, g, gainer2, 101, 1)
	}
	writeRows(t, a, l, g, 0, 3, fresh(gainRow(gainer1, 4, 101, 4)), fresh(row(gainer2, 0)))
	wantGains(t, a, g, gainer1, 101, 4)
	wantGains(t, a, g, gainer2)
	writeRows(t, a, l, g, 0, 2, gone) // an older tombstone
	wantGains(t, a, g, gainer1, 101, 4)
}

func archiveGainsOlder(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 5, gainRow(gainer1, 3, 100, 10), tombstone(gainer2))
	writeRows(t, a, l, g, 0, 4, fresh(gainRow(gainer1, 3, 100, 7, 101, 7)), gainRow(gainer2, 3, 100, 7), gainRow(gainer3, 3, 100, 7))
	wantGains(t, a, g, gainer1, 100, 10)
	wantGains(t, a, g, gainer2)
	wantGains(t, a, g, gainer3, 100, 7)
	// Each row has the gains as of AsOf.
	b := snapshot.Batch{Guild: refOf(g), Rev: 4, AsOf: 6, Known: math.MaxInt64, Rows: []snapshot.Row{gainRow(gainer1, 3, 100, 11)}}
	must(t, snapshot.WriteBatch(t.Context(), a, l, b))
	wantGains(t, a, g, gainer1, 100, 11)
	mustGet(a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Archived: 5}, hydrate.Reloaded))(t)
	if err := snapshot.WriteBatch(t.Context(), a, l, b); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("a batch of the epoch before: %v, want snapshot.ErrStale", err)
	}
	writeRows(t, a, l, g, 1, 1, gainRow(gainer1, 3, 100, 5))
	wantGains(t, a, g, gainer1, 100, 5)
	if _, err := a.WriteBatches(t.Context(), lease.Lease{}, []snapshot.Batch{{Guild: refOf(g), Epoch: 1, Rev: 9, Known: 9, Rows: []snapshot.Row{gainRow(gainer1, 1, 100, 1)}}}); !errors.Is(err, lease.ErrLost) {
		t.Errorf("batches without the lease: %v, want lease.ErrLost", err)
	}
	wantGains(t, a, g, gainer1, 100, 5)
}

func archiveGainsGroups(t *testing.T, a store.Archive) {
	guilds := putMany(t, a, 3)
	l := leased(t, a)
	batches := batchesOf(guilds, 5)
	for i := range batches {
		batches[i].Rows = []snapshot.Row{gainRow(gainer1, 1, 100, int64(i)), gainRow(gainer2, 1, 100, 7)}
	}
	batches[1].Epoch = 1 // a stale epoch
	mustGet(a.WriteBatches(t.Context(), l, batches))(t)
	wantGains(t, a, guilds[0], gainer1, 100, 0)
	wantGains(t, a, guilds[1], gainer1)
	wantGains(t, a, guilds[2], gainer1, 100, 2)
	wantGains(t, a, guilds[2], gainer2, 100, 7)
}

func archiveGainsSalvaged(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 3, gainRow(gainer1, 3, 100, 10, 101, -20), gainRow(gainer2, 3, 100, 7), gainRow(gainer4, 3, 99, 9))
	writeRows(t, a, l, g, 0, 9, tombstone(gainer3))
	b := snapshot.Batch{Guild: refOf(g), Rev: 8, Known: 8}
	salvageOf(t, a, b, g,
		gainRow(gainer1, 3, 100, 9, 101, -5, 102, -1), // each day keeps the higher gain
		tombstone(gainer2),                            // not written since in the archive
		gainRow(gainer3, 3, 100, 7),                   // deleted since in the archive
		fresh(gainRow(gainer4, 3, 100, 4)))
	wantGains(t, a, g, gainer1, 100, 10, 101, -5, 102, -1)
	wantGains(t, a, g, gainer2)
	wantGains(t, a, g, gainer3)
	wantGains(t, a, g, gainer4, 99, 9, 100, 4)
	// A tombstone in the live store does not remove a row that was written here since.
	writeRows(t, a, l, g, 0, 10, gainRow(gainer4, 3, 100, 5))
	salvageOf(t, a, b, g, tombstone(gainer4))
	wantGains(t, a, g, gainer4, 99, 9, 100, 5)
}

func archiveLastDays(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	wantLast := func(want period.Day) {
		t.Helper()
		if got, err := a.LastDay(t.Context(), refOf(g)); err != nil || got != want {
			t.Errorf("the last day is %d (%v), want %d", got, err, want)
		}
	}
	wantLast(0)
	writeRows(t, a, l, g, 0, 1, row(gainer1, 1))
	if rows := allMembers(t, a, g); len(rows) != 1 || rows[0].Gains != nil {
		t.Errorf("members read without gains are %+v, want one without", rows)
	}
	writeRows(t, a, l, g, 0, 2, gainRow(gainer1, 1, 97, 1, 98, 2, 99, -3, 100, 4), gainRow(gainer2, 1, 97, 1), gainRow(gainer3, 1, 99, 0))
	wantLast(100)
	want := [][]period.Gain{{{Day: 100, Gained: 4}, {Day: 99, Gained: -3}, {Day: 98, Gained: 2}}, nil, {{Day: 99}}}
	for i, r := range allMembers(t, a, g) {
		if !slices.Equal(r.Gains, want[i]) {
			t.Errorf("member %d has the gains %+v, want %+v", i, r.Gains, want[i])
		}
	}
	writeRows(t, a, l, g, 0, 3, tombstone(gainer1))
	wantLast(99)
}

func archiveSums(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	writeRows(t, a, leased(t, a), g, 0, 1,
		gainRow(gainer1, 1, 98, 1000, 99, 1, 100, 10, 101, 100, 102, 1000, 103, 1), gainRow(gainer2, 1, 100, -7, 101, 9), gainRow(gainer3, 1, 103, 3))
	boards := period.Boards{Day: 101, Periods: [4]period.Period{{First: 101, End: 102}, {First: 100, End: 107}, {}, {First: 99, End: 102}}}
	want := map[id.User][]int64{gainer1: {100, 1111, 0, 111}, gainer2: {9, 2, 0, 2}, gainer3: {0, 3, 0, 0}}
	all := mustGet(a.Members(t.Context(), refOf(g), "", 100))(t)
	for name, page := range map[string][]snapshot.Row{"all": all, "the first two": all[:2], "the last two": all[1:]} {
		rows := slices.Clone(page)
		must(t, a.AddGains(t.Context(), refOf(g), rows, 103, &boards))
		for _, r := range rows {
			if !slices.Equal(r.OnBoards, want[r.UserID]) {
				t.Errorf("%s: the row is %v, want %v on boards", name, r, want[r.UserID])
			}
		}
	}
}
