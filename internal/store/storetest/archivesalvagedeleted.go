package storetest

import (
	"reflect"
	"slices"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/snapshot"
)

func archiveSalvageTombstones(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	for range 3 {
		s := mustGet(a.State(t.Context(), refOf(g)))(t)
		mustGet(a.RaiseEpoch(t.Context(), refOf(g), s, hydrate.Reloaded))(t)
	}
	const epoch, rev = 3, 50
	back := salvageRow(salvaged1, 7, 6, 5, 4)
	// Only the archived rev that the live store knows counts. Its own rev rises on old data too.
	knowing := func(epoch, known int64) []snapshot.Row {
		t.Helper()
		return salvageOf(t, a, snapshot.Batch{Guild: refOf(g), Epoch: epoch, Rev: known, Known: known}, g, back)
	}
	deleted := func(rev int64) {
		t.Helper()
		writeRows(t, a, l, g, epoch, rev-1, row(salvaged1, 1))
		writeRows(t, a, l, g, epoch, rev, tombstone(salvaged1))
	}
	deleted(rev)
	for _, older := range []struct{ epoch, rev int64 }{{epoch, rev - 1}, {epoch - 1, rev + 1}, {epoch - 1, rev - 1}} {
		if got := knowing(older.epoch, older.rev); len(got) > 0 {
			t.Errorf("a salvage from %+v brought back what epoch %d deleted at rev %d: %+v", older, epoch, rev, got)
		}
	}
	for i, newer := range []struct{ epoch, rev int64 }{{epoch, rev}, {epoch, rev + 1}, {epoch + 1, rev - 1}} {
		if i > 0 {
			// A salvaged entry has the guild's rev, and the deletion that follows is newer.
			deleted(rev + 2*int64(i))
			newer.rev += 2 * int64(i)
		}
		if got := knowing(newer.epoch, newer.rev); !reflect.DeepEqual(got, []snapshot.Row{back}) {
			t.Errorf("a salvage from %+v made %+v, want the recreated member", newer, got)
		}
	}
	// A salvage that crashed after raising the epoch runs again, and must still find the tombstone.
	deleted(rev + 10)
	s := mustGet(a.State(t.Context(), refOf(g)))(t)
	mustGet(a.RaiseEpoch(t.Context(), refOf(g), s, hydrate.Reloaded))(t)
	if got := knowing(epoch, rev); len(got) > 0 {
		t.Errorf("in the next epoch the deleted member came back: %+v", got)
	}
}

// A salvage deletes a member that the live store deleted after the last archived rev it knows, unless the archive wrote the member since.
func archiveSalvageDeleted(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	epoch := func() int64 {
		t.Helper()
		s, err := a.State(t.Context(), refOf(g))
		if err == nil {
			s, err = a.RaiseEpoch(t.Context(), refOf(g), s, hydrate.Reloaded)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s.Epoch
	}
	bury := func(epoch, known int64, want ...id.User) {
		t.Helper()
		from := mustGet(a.State(t.Context(), refOf(g)))(t)
		gone := []snapshot.Row{tombstone(salvaged1), tombstone(salvaged2), tombstone(salvaged3)}
		var got []id.User
		for range 2 {
			must(t, a.Salvage(t.Context(), from, snapshot.Batch{Guild: refOf(g), Epoch: epoch, Rev: known, Known: known, Rows: gone}))
			got = nil
			for _, row := range allMembers(t, a, g) {
				got = append(got, row.UserID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("after deletions of epoch %d that knew rev %d, %v are left, want %v", epoch, known, got, want)
			}
		}
		wantState(t, a, g, from.Epoch, from.Archived)
	}
	writeRows(t, a, l, g, 0, 7, row(salvaged1, 1))
	first := epoch()
	writeRows(t, a, l, g, first, 8, row(salvaged2, 2))
	writeRows(t, a, l, g, first, 9, row(salvaged3, 3))
	bury(first-1, 9, salvaged1, salvaged2, salvaged3)
	bury(first, 8, salvaged3)
	// The result is an ordinary tombstone: a newer row revives the member, an older one does not.
	if got := salvage(t, a, g, first, 8, salvageRow(salvaged2, 5, 4, 3, 2)); len(got) != 1 {
		t.Errorf("an older store brought back a deleted member: %+v", got)
	}
	writeRows(t, a, l, g, first, 10, row(salvaged2, 6))
	if got := allMembers(t, a, g); len(got) != 2 || got[0].XP != 6 {
		t.Errorf("after a newer batch the members are %+v, want two, the first with 6 XP", got)
	}
	epoch()
	bury(first, 10, salvaged2, salvaged3)
}
