package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func archiveTombstones(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 1, row("300000000000000001", 1), row("300000000000000002", 2))
	writeRows(t, a, l, g, 0, 5, tombstone("300000000000000001"), tombstone("300000000000000003"))
	writeRows(t, a, l, g, 0, 4, row("300000000000000001", 4))
	if rows := allMembers(t, a, g); len(rows) != 1 || rows[0].UserID != "300000000000000002" {
		t.Errorf("beside the tombstones the members are %+v, want one", rows)
	}
	if n, err := a.Purge(t.Context(), 100, snapshot.Keep{Tombstones: time.Hour}); err != nil || n != 0 {
		t.Errorf("purged %d fresh tombstones (%v), want none", n, err)
	}
	writeRows(t, a, l, g, 0, 6, row("300000000000000001", 6))
	if rows := allMembers(t, a, g); len(rows) != 2 || rows[0].XP != 6 {
		t.Errorf("after a member returned they are %+v, want two, the first with 6 XP", rows)
	}
	// One of the two tombstones became a member again.
	if n, err := a.Purge(t.Context(), 100, snapshot.Keep{Tombstones: -time.Hour}); err != nil || n != 1 {
		t.Errorf("purged %d rows (%v), want the one tombstone", n, err)
	}
	writeRows(t, a, l, g, 0, 8, tombstone("300000000000000002"))
	mustGet(a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Archived: 8}, hydrate.Reloaded))(t)
	if n, err := a.Purge(t.Context(), 100, snapshot.Keep{Tombstones: -time.Hour}); err != nil || n != 1 {
		t.Errorf("purged %d rows (%v), want 1: a salvage may still need the tombstone of the epoch before", n, err)
	}
}

func archivePurge(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	kept := put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	var rows []snapshot.Row
	for i := range 25 {
		rows = append(rows, row(id.User(fmt.Sprintf("3%017d", i)), 1))
	}
	writeRows(t, a, l, g, 0, 1, rows...)
	writeRows(t, a, l, kept, 0, 1, rows[0])
	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	wantDeleted := func(want ...leaderboard.GuildRef) {
		t.Helper()
		if got, err := a.Deleted(t.Context(), 10); err != nil || !slices.Equal(got, want) {
			t.Errorf("the deleted guilds are %v (%v), want %v", got, err, want)
		}
	}
	wantDeleted(refOf(g))
	var pieces []int
	for range 5 {
		n := mustGet(a.Purge(t.Context(), 10, snapshot.Keep{Tombstones: time.Hour}))(t)
		pieces = append(pieces, n)
	}
	if want := []int{10, 10, 5, 0, 0}; !slices.Equal(pieces, want) {
		t.Errorf("the purges removed %v rows, want %v", pieces, want)
	}
	wantDeleted()
	if len(allMembers(t, a, kept)) != 1 {
		t.Error("a purge removed a member of a guild that exists")
	}
}
