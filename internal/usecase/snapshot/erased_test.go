package snapshot_test

import (
	"testing"
	"time"

	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/leaderboard"
)

// An older Redis' data of a user who was erased since is not salvaged.
func TestAnErasedUserIsNotSalvaged(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g, writer := w.Context(), w.guild(guildA), w.writer("writer", never, &faults{})
	for i := range 3 {
		w.create(g, i, 100)
	}
	w.must(writer.Flush(ctx))
	for i := range 3 { // in the dump, and not archived
		w.change(g, i, leaderboard.Change{Op: leaderboard.Increment, Amount: 50})
	}
	dump := w.keep()
	w.remove(g, 0)
	w.must(writer.Flush(ctx))
	w.must(w.archive.BeginErasure(ctx, user(0)))
	now := time.Now()
	w.must(w.archive.NoteSearched(ctx, user(0), now))
	if all, err := w.archive.EraseRows(ctx, erasure.Open{User: user(0), At: now}); err != nil || !all { // no tombstone is left
		t.Fatalf("erased all: %v, %v", all, err)
	}
	w.goBack(dump)
	w.wantXPs(g, -1, 150, 150)
}
