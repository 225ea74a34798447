package hydrate_test

import (
	"context"
	"testing"

	"levelboard/internal/platform/changes"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

type silent struct{}

func (silent) Announce(context.Context, changes.Kind, string) {}

// watched runs one of looks before each look at a guild's state.
type watched struct {
	storetest.ArchiveStore
	looks []func()
}

func (a *watched) State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error) {
	if len(a.looks) > 0 {
		a.looks[0]()
		a.looks = a.looks[1:]
	}
	return a.ArchiveStore.State(ctx, g)
}

// The server restarts while a checkpoint waits for the writer. The guild gets another epoch, and its changes still wait.
func TestACheckpointWaitsAcrossAVerification(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, h, writer := w.Context(), w.Guild(stores.GuildA), w.Hydrator(&stores.Faults{}), w.Writer("writer", stores.Never, &stores.Faults{})
	w.Create(g, 0, 100)
	w.Must(writer.Flush(ctx))
	w.Change(g, 0, leaderboard.Change{Op: leaderboard.Set, Amount: 7})
	nothing := func() {}
	archive := &watched{w.Archive, []func(){
		func() { w.GoBack(w.Keep()); w.Must(h.Load(ctx, g)) }, nothing, nothing, func() { w.Must(writer.Flush(ctx)) },
	}}
	kept, err := checkpoints.New(archive, w.Live, h, silent{}).Create(ctx, g.ID, "kept", false)
	w.Must(err)
	done, err := w.Archive.Replace(ctx, checkpoints.Replacement{Guild: g, State: w.State(g), From: kept.ID, Name: "before", Why: events.Restored})
	w.Must(err)
	rows, err := w.Archive.Members(ctx, leaderboard.GuildRef{ID: g.ID, Incarnation: done.Incarnation}, "", 10)
	w.Must(err)
	if len(rows) != 1 || rows[0].XP != 7 {
		t.Errorf("the checkpoint has %v, want one member with 7 XP", rows)
	}
}
