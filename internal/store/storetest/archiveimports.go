package storetest

import (
	"errors"
	"testing"
	"time"

	"levelboard/internal/store"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

func archiveImports(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	other := put(t, a, settingsOf(t, guildB, ""))
	noted := func(g leaderboard.GuildRef, files string) *checkpoints.NotedImport {
		t.Helper()
		return mustGet(a.Import(t.Context(), g, files))(t)
	}
	start := func(id, replaces string) error {
		return a.StartImport(t.Context(), refOf(g), "files", checkpoints.NotedImport{ID: id, Checkpoint: "12", Plan: "plan of " + id}, replaces)
	}
	must(t, start("one", ""))
	got := noted(refOf(g), "files")
	if got == nil || got.ID != "one" || got.Checkpoint != "12" || got.Plan != "plan of one" || got.Finished || got.Age < 0 || got.Age > time.Hour || time.Since(got.Started).Abs() > time.Hour {
		t.Errorf("the noted import is %+v, want \"one\", not finished, with checkpoint 12", got)
	}
	if err := start("two", ""); err == nil {
		t.Error("a second import of the same files was started")
	}
	if noted(refOf(g), "others") != nil || noted(refOf(other), "files") != nil {
		t.Error("an import is noted for other files or another guild")
	}
	if err := a.FinishImport(t.Context(), refOf(g), "one", 3); err != nil || !noted(refOf(g), "files").Finished {
		t.Errorf("finishing the import: %v, or it is not noted as finished", err)
	}
	wantResets(t, a, periods.Reset{Guild: refOf(g), Why: events.Imported})
	if err := start("two", "one"); err != nil || noted(refOf(g), "files").ID != "two" || noted(refOf(g), "files").Finished {
		t.Errorf("starting it again: %v, or the noted import is not \"two\", unfinished", err)
	}
	gone := leaderboard.GuildRef{ID: g.ID, Incarnation: 1}
	if err := a.StartImport(t.Context(), gone, "files", *got, ""); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("starting in an unknown incarnation: %v, want snapshot.ErrStale", err)
	}
	if err := a.FinishImport(t.Context(), gone, "one", 3); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("finishing in an unknown incarnation: %v, want snapshot.ErrStale", err)
	}
	restored := func(from string) {
		t.Helper()
		g = mustGet(a.Guild(t.Context(), g.ID))(t)
		state := mustGet(a.State(t.Context(), refOf(g)))(t)
		mustGet(a.Replace(t.Context(), checkpoints.Replacement{Guild: refOf(g), State: state, From: from, Name: "before", Why: events.Restored}))(t)
		g = mustGet(a.Guild(t.Context(), g.ID))(t)
	}
	// A checkpoint keeps the imports before it, and that it may hold a part of the running one.
	during := mustGet(a.CreateCheckpoint(t.Context(), refOf(g), "during", false))(t)
	must(t, a.FinishImport(t.Context(), refOf(g), "two", 3))
	after := mustGet(a.CreateCheckpoint(t.Context(), refOf(g), "after", false))(t)
	restored(during.ID)
	if got := noted(refOf(g), "files"); got == nil || got.ID != "two" || got.Finished || got.Plan == "plan of two" {
		t.Errorf("restored from the middle of an import, it is noted as %+v, want \"two\" unfinished", got)
	}
	restored(after.ID)
	if got := noted(refOf(g), "files"); got == nil || got.ID != "two" || !got.Finished || got.Plan != "plan of two" {
		t.Errorf("restored from after an import, it is noted as %+v, want \"two\" finished", got)
	}
	mustGet(a.DeleteGuild(t.Context(), g.ID))(t)
	purgeAll(t, a)
	if noted(refOf(g), "files") != nil {
		t.Error("a purge left the import of a deleted guild")
	}
}
