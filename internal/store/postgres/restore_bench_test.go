package postgres

import (
	"testing"

	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
)

// BenchmarkRestore is one transaction: a million members are copied from a checkpoint, and those that the guild had become one.
func BenchmarkRestore(b *testing.B) {
	w := newWriteBench(b)
	kept, err := w.archive.CreateCheckpoint(b.Context(), w.guild, "kept", false)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		state, err := w.archive.State(b.Context(), w.guild)
		if err != nil {
			b.Fatal(err)
		}
		done, err := w.archive.Replace(b.Context(), checkpoints.Replacement{Guild: w.guild, State: state, From: kept.ID, Name: "before", Why: events.Restored})
		if err != nil {
			b.Fatal(err)
		}
		if done.Members != benchMembers || done.Before.Members != benchMembers {
			b.Fatalf("restored %d members and kept %d", done.Members, done.Before.Members)
		}
		w.guild.Incarnation = done.Incarnation
	}
}
