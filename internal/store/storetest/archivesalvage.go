package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

const (
	salvaged1 id.User = "300000000000000001"
	salvaged2 id.User = "300000000000000002"
	salvaged3 id.User = "300000000000000003"
)

// salvage merges rows of a live store at epoch and rev. It does so twice, as after a crash in between.
func salvage(t *testing.T, a store.Archive, g *guild.Guild, epoch, rev int64, rows ...snapshot.Row) []snapshot.Row {
	t.Helper()
	return salvageOf(t, a, snapshot.Batch{Guild: refOf(g), Epoch: epoch, Rev: rev}, g, rows...)
}

func salvageOf(t *testing.T, a store.Archive, b snapshot.Batch, g *guild.Guild, rows ...snapshot.Row) []snapshot.Row {
	t.Helper()
	from := mustGet(a.State(t.Context(), refOf(g)))(t)
	var once []snapshot.Row
	for range 2 {
		given := slices.Clone(rows)
		b.Rows = given
		must(t, a.Salvage(t.Context(), from, b))
		if !reflect.DeepEqual(given, rows) {
			t.Errorf("the salvage changed the caller's rows to %+v", given)
		}
		got := allMembers(t, a, g)
		if once != nil && !reflect.DeepEqual(got, once) {
			t.Errorf("a second salvage made\n %+v of\n %+v, want no change", got, once)
		}
		once = got
	}
	wantState(t, a, g, from.Epoch, from.Archived)
	return once
}

// salvageRow returns a row with its last update and cooldown in minutes; 0 is none.
func salvageRow(user id.User, xp level.XP, count int64, updated, cooldown int64) snapshot.Row {
	at := func(minutes int64) time.Time {
		if minutes == 0 {
			return time.Time{}
		}
		return time.UnixMilli(1767225600123).Add(time.Duration(minutes) * time.Minute).UTC()
	}
	return snapshot.Row{
		Member:        leaderboard.Member{UserID: user, XP: xp, MessageCount: count, LastUpdated: at(updated)},
		CooldownUntil: at(cooldown),
	}
}

func archiveSalvage(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	type entry struct {
		xp                       level.XP
		count, updated, cooldown int64
	}
	for rev, c := range []struct {
		name                       string
		archived, salvaged, merged entry
	}{
		{"the archive is ahead in all", entry{9, 8, 7, 6}, entry{5, 4, 3, 2}, entry{9, 8, 7, 6}},
		{"the live store is ahead in all", entry{5, 4, 3, 2}, entry{9, 8, 7, 6}, entry{9, 8, 7, 6}},
		{"each is ahead in something", entry{9, 4, 7, 2}, entry{5, 8, 3, 6}, entry{9, 8, 7, 6}},
		{"the archive knows no times", entry{9, 8, 0, 0}, entry{5, 4, 3, 2}, entry{9, 8, 3, 2}},
		{"the live store knows no times", entry{5, 4, 3, 2}, entry{9, 8, 0, 0}, entry{9, 8, 3, 2}},
		{"neither knows a time", entry{5, 4, 0, 0}, entry{5, 4, 0, 0}, entry{5, 4, 0, 0}},
	} {
		rowOf := func(e entry) snapshot.Row { return salvageRow(salvaged1, e.xp, e.count, e.updated, e.cooldown) }
		writeRows(t, a, l, g, 0, int64(rev+1), rowOf(c.archived))
		if got := salvage(t, a, g, 0, int64(rev), rowOf(c.salvaged)); !reflect.DeepEqual(got, []snapshot.Row{rowOf(c.merged)}) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, rowOf(c.merged))
		}
	}
	// One member is new to the archive, one has no entry in the live store any more.
	got := salvage(t, a, g, 0, 99, salvageRow(salvaged2, 3, 2, 1, 0), tombstone(salvaged1), tombstone(salvaged3))
	if want := []snapshot.Row{salvageRow(salvaged1, 5, 4, 0, 0), salvageRow(salvaged2, 3, 2, 1, 0)}; !reflect.DeepEqual(got, want) {
		t.Errorf("the merged members are\n%+v, want\n%+v", got, want)
	}
	salvage(t, a, g, 0, 99)
	salvage(t, a, g, 0, 99, tombstone(salvaged1))
	// Salvaged members are as of the live store's rev: the last batch changes nothing, a newer one does.
	state := mustGet(a.State(t.Context(), refOf(g)))(t)
	writeRows(t, a, l, g, state.Epoch, state.Archived, row(salvaged2, 1))
	if got := allMembers(t, a, g)[1].XP; got != 3 {
		t.Errorf("after the last batch came again the member has %d XP, want 3", got)
	}
	writeRows(t, a, l, g, state.Epoch, 100, row(salvaged2, 1))
	if got := allMembers(t, a, g)[1].XP; got != 1 {
		t.Errorf("after a newer batch the member has %d XP, want 1", got)
	}
}

func archiveSalvageUsers(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	empty, name := "", "Ada"
	unknown := leaderboard.User{}
	older := leaderboard.User{Username: "older", Discriminator: "1", GlobalName: &name}
	newer := leaderboard.User{Username: "newer", Discriminator: "0", Avatar: &name, AccentColour: &empty}
	onlyAvatar := leaderboard.User{Avatar: &empty}
	onlyDiscriminator := leaderboard.User{Discriminator: "0"}
	for rev, c := range []struct {
		name                       string
		archived, salvaged, merged leaderboard.User
		archivedAt, salvagedAt     int64
	}{
		{"the archive's is newer", newer, older, newer, 2, 1},
		{"the live store's is newer", older, newer, newer, 1, 2},
		{"both are of one time", older, newer, older, 1, 1},
		{"neither has a time", older, newer, older, 0, 0},
		{"only the archive's has a time", older, newer, older, 1, 0},
		{"only the live store's has a time", older, newer, newer, 0, 1},
		{"the newer one is unknown, in the archive", unknown, older, older, 2, 1},
		{"the newer one is unknown, in the live store", older, unknown, older, 1, 2},
		{"of one time, unknown in the archive", unknown, older, older, 1, 1},
		{"an empty avatar is known", older, onlyAvatar, onlyAvatar, 1, 2},
		{"an empty avatar is known, in the archive", onlyAvatar, older, onlyAvatar, 2, 1},
		{"a discriminator is known", older, onlyDiscriminator, onlyDiscriminator, 1, 2},
		{"unknown in both", unknown, unknown, unknown, 1, 2},
	} {
		archived, salvaged := salvageRow(salvaged1, 1, 1, c.archivedAt, 0), salvageRow(salvaged1, 1, 1, c.salvagedAt, 0)
		archived.User, salvaged.User = c.archived, c.salvaged
		writeRows(t, a, l, g, 0, int64(rev+1), archived)
		want := salvageRow(salvaged1, 1, 1, max(c.archivedAt, c.salvagedAt), 0)
		want.User = c.merged
		if got := salvage(t, a, g, 0, int64(rev), salvaged); !reflect.DeepEqual(got, []snapshot.Row{want}) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, want)
		}
	}
}

// The presence that was set last wins.
func archiveSalvagePresence(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	rev := int64(0)
	for _, c := range []struct{ archivedAt, salvagedAt int64 }{{1, 2}, {2, 1}, {1, 1}, {0, 1}} {
		for _, absent := range []bool{true, false} {
			archived, salvaged := salvageRow(salvaged1, 1, 1, c.archivedAt, 0), salvageRow(salvaged1, 1, 1, c.salvagedAt, 0)
			archived.Absent, salvaged.Absent = !absent, absent
			writeRows(t, a, l, g, 0, rev+1, tombstone(salvaged1))
			writeRows(t, a, l, g, 0, rev+2, archived)
			want := absent == (c.salvagedAt > c.archivedAt)
			if got := salvage(t, a, g, 0, rev+1, salvaged); got[0].Absent != want {
				t.Errorf("%+v, absent in the live store %v: the merged row is %+v, want absent %v", c, absent, got, want)
			}
			rev += 10
		}
	}
}

func archiveSalvageStale(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 5, row(salvaged1, 1))
	mustGet(a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Archived: 5}, hydrate.Reloaded))(t)
	stale := func(g *guild.Guild, from snapshot.State) {
		t.Helper()
		b := snapshot.Batch{Guild: refOf(g), Epoch: from.Epoch, Rev: from.Archived, Rows: []snapshot.Row{row(salvaged1, 9), row(salvaged2, 9)}}
		if err := a.Salvage(t.Context(), from, b); !errors.Is(err, snapshot.ErrStale) {
			t.Errorf("a salvage from %+v: %v, want snapshot.ErrStale", from, err)
		}
	}
	for _, from := range []snapshot.State{{}, {Epoch: 0, Archived: 5}, {Epoch: 2, Archived: 5}, {Epoch: 1, Archived: 4}, {Epoch: 1, Archived: 6}} {
		stale(g, from)
	}
	if got := allMembers(t, a, g); len(got) != 1 || got[0].XP != 1 {
		t.Errorf("refused salvages left %+v, want one member with 1 XP", got)
	}
	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	again := put(t, a, settingsOf(t, guildA, ""))
	stale(g, snapshot.State{Epoch: 1, Archived: 5})
	stale(again, snapshot.State{Epoch: 1, Archived: 5})
	if got := allMembers(t, a, again); len(got) > 0 {
		t.Errorf("a refused salvage left %+v, want no members", got)
	}
}

func archiveSalvageRace(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	for epoch := range int64(20) {
		from := snapshot.State{Epoch: epoch}
		before := len(allMembers(t, a, g))
		user := id.User(fmt.Sprintf("3%017d", epoch))
		var group sync.WaitGroup
		var salvageErr, raiseErr error
		group.Go(func() {
			salvageErr = a.Salvage(t.Context(), from, snapshot.Batch{Guild: refOf(g), Rows: []snapshot.Row{row(user, 1)}})
		})
		group.Go(func() { _, raiseErr = a.RaiseEpoch(t.Context(), refOf(g), from, hydrate.Reloaded) })
		group.Wait()
		if raiseErr != nil || salvageErr != nil && !errors.Is(salvageErr, snapshot.ErrStale) {
			t.Fatalf("the raise failed with %v and the salvage with %v, want at most a stale salvage", raiseErr, salvageErr)
		}
		if written := len(allMembers(t, a, g)) - before; (written == 1) != (salvageErr == nil) {
			t.Errorf("the salvage wrote %d rows and returned %v", written, salvageErr)
		}
	}
}
