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
	// The live store's own rev says nothing: changes raise it on old data as well.
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
			t.Errorf("from %+v came back what was deleted at epoch %d, rev %d: %+v", older, epoch, rev, got)
		}
	}
	for i, newer := range []struct{ epoch, rev int64 }{{epoch, rev}, {epoch, rev + 1}, {epoch + 1, rev - 1}} {
		if i > 0 {
			// A salvaged entry is of the guild's state; the delete that follows is newer.
			deleted(rev + 2*int64(i))
			newer.rev += 2 * int64(i)
		}
		if got := knowing(newer.epoch, newer.rev); !reflect.DeepEqual(got, []snapshot.Row{back}) {
			t.Errorf("from %+v: %+v; want what was there again", newer, got)
		}
	}
	// A salvage that was cut off after the epoch was raised is begun again, and has to find the tombstone.
	deleted(rev + 10)
	s := mustGet(a.State(t.Context(), refOf(g)))(t)
	mustGet(a.RaiseEpoch(t.Context(), refOf(g), s, hydrate.Reloaded))(t)
	if got := knowing(epoch, rev); len(got) > 0 {
		t.Errorf("in the next epoch came back what was deleted: %+v", got)
	}
}

// A member that the live store has deleted since what it knows of was archived is deleted, and whoever was written since is not.
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
				t.Errorf("what epoch %d deleted that knew of rev %d: %v is left, want %v", epoch, known, got, want)
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
	// It is a tombstone like any other: an older row does not bring it back, a newer one does.
	if got := salvage(t, a, g, first, 8, salvageRow(salvaged2, 5, 4, 3, 2)); len(got) != 1 {
		t.Errorf("what was deleted came back from an older store: %+v", got)
	}
	writeRows(t, a, l, g, first, 10, row(salvaged2, 6))
	if got := allMembers(t, a, g); len(got) != 2 || got[0].XP != 6 {
		t.Errorf("after a newer batch there are %+v", got)
	}
	epoch()
	bury(first, 10, salvaged2, salvaged3)
}
