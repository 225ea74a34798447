package hydrate_test

import (
	"context"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

type silent struct{}

func (silent) Announce(context.Context, changes.Kind, string) {}

// watched runs one of looks before each read of a guild's state.
type watched struct {
	store.Archive
	looks []func()
}

func (a *watched) State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error) {
	if len(a.looks) > 0 {
		a.looks[0]()
		a.looks = a.looks[1:]
	}
	return a.Archive.State(ctx, g)
}

// The server restarts while a checkpoint waits for the writer. The guild's epoch rises, and its changes still wait.
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
	kept, err := checkpoints.New(archive, w.Live, h, silent{}, checkpoints.Options{}).Create(ctx, g.ID, "kept", false)
	w.Must(err)
	if rows := restored(w, g, kept); len(rows) != 1 || rows[0].XP != 7 {
		t.Errorf("the checkpoint has %v, want one member with 7 XP", rows)
	}
}

// Redis loses a guild's last change while a checkpoint waits for it, and no request uses the guild. The checkpoint has the rest.
func TestACheckpointEndsIfRedisLostTheLastChange(t *testing.T) {
	w := stores.Embedded(t)
	ctx, g, h, writer := w.Context(), w.Guild(stores.GuildA), w.Hydrator(&stores.Faults{}), w.Writer("writer", stores.Never, &stores.Faults{})
	w.Create(g, 0, 100)
	w.Must(writer.Flush(ctx))
	w.Change(g, 0, leaderboard.Change{Op: leaderboard.Set, Amount: 7})
	empty := func() { w.Must(w.Redis.FlushAll(ctx).Err()) }
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	kept, err := checkpoints.New(&watched{w.Archive, []func(){empty}}, w.Live, h, silent{}, checkpoints.Options{}).Create(ctx, g.ID, "kept", false)
	w.Must(err)
	if rows := restored(w, g, kept); len(rows) != 1 || rows[0].XP != 100 {
		t.Errorf("the checkpoint has %v, want one member with 100 XP", rows)
	}
}

// A page of changes is never archived. One of its members changes again, and a later page claims to cover everything before it.
func TestACheckpointWaitsForAFailedPage(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, h, writer := w.Context(), w.Guild(stores.GuildA), w.Hydrator(&stores.Faults{}), w.Writer("writer", stores.Never, &stores.Faults{})
	for n := range 3 {
		w.Create(g, n, 100)
	}
	w.Must(writer.Flush(ctx))
	readTwo := func() snapshot.Batch {
		page := w.Live.ReadChanges(ctx, []id.Guild{g.ID}, 2)[0]
		w.Must(page.Err)
		return page.Batch
	}
	fail := func() {
		w.Add(g, 2)
		readTwo()
		w.Add(g, 0)
		batch := readTwo()
		lease, err := w.Archive.AcquireLease(ctx, "writer", stores.Taken, false)
		w.Must(err)
		w.Must(snapshot.WriteBatch(ctx, w.Archive, lease, batch))
	}
	w.Add(g, 0)
	w.Add(g, 1)
	archive := &watched{w.Archive, []func(){fail, func() {}, func() { w.Must(writer.Flush(ctx)) }}}
	kept, err := checkpoints.New(archive, w.Live, h, silent{}, checkpoints.Options{}).Create(ctx, g.ID, "kept", false)
	w.Must(err)
	if rows := restored(w, g, kept); len(rows) != 3 || rows[0].XP != 102 {
		t.Errorf("the checkpoint has %v, want three members, the first with 102 XP", rows)
	}
}

// restored restores a checkpoint and returns the guild's board.
func restored(w *stores.World, g leaderboard.GuildRef, kept checkpoints.Checkpoint) []snapshot.Row {
	w.Helper()
	done, err := w.Archive.Replace(w.Context(), checkpoints.Replacement{Guild: g, State: w.State(g), From: kept.ID, Name: "before", Why: events.Restored})
	w.Must(err)
	return w.ArchivedRows(leaderboard.GuildRef{ID: g.ID, Incarnation: done.Incarnation})
}
