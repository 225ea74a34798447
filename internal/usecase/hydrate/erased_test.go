package hydrate_test

import (
	"testing"
	"time"

	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/leaderboard"
)

// A stale Redis has data of a user who was erased since. It is not salvaged.
func TestAnErasedUserIsNotSalvaged(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, writer := w.Context(), w.Guild(stores.GuildA), w.Writer("writer", stores.Never, &stores.Faults{})
	for i := range 3 {
		w.Create(g, i, 100)
	}
	w.Must(writer.Flush(ctx))
	for i := range 3 { // in the dump, not in the archive
		w.Change(g, i, leaderboard.Change{Op: leaderboard.Increment, Amount: 50})
	}
	dump := w.Keep()
	w.Remove(g, 0)
	w.Must(writer.Flush(ctx))
	w.Must(w.Archive.BeginErasure(ctx, stores.User(0)))
	now := time.Now()
	w.Must(w.Archive.NoteSearched(ctx, stores.User(0), now))
	if all, err := w.Archive.EraseRows(ctx, erasure.Open{User: stores.User(0), At: now}); err != nil || !all { // no tombstone is left
		t.Fatalf("erasing the user's rows: all %v (%v), want true", all, err)
	}
	w.GoBack(dump)
	w.WantXPs(g, -1, 150, 150)
}
