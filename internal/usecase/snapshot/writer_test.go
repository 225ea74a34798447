package snapshot_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

func TestChangesAreArchived(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		ctx, f := w.Context(), &stores.Faults{}
		g := w.Guild(stores.GuildA)
		writer := w.Writer("writer", stores.Never, f)
		for i := range 4 {
			w.Create(g, i, 100)
		}
		w.Change(g, 1, leaderboard.Change{Op: leaderboard.Set, Amount: 7777, Cooldown: time.Hour})
		w.Change(g, 2, leaderboard.Change{Op: leaderboard.Decrement, Amount: 30, Cooldown: 1500 * time.Millisecond})
		w.Must(writer.Flush(ctx))
		w.InStep(g)
		rows := w.ArchivedRows(g)
		if rows[1].XP != 7777 || rows[1].CooldownUntil.Before(time.Now().Add(50*time.Minute)) || rows[1].LastUpdated.IsZero() {
			t.Errorf("the member is archived as %+v, want 7777 XP, a cooldown of an hour and the time of the change", rows[1])
		}
		if rows[2].XP != 70 || rows[2].User.Username != "gopher2" || *rows[2].User.GlobalName != "Gopher 2" || rows[3].User.GlobalName != nil {
			t.Errorf("the members are archived as %+v and %+v, want their user data", rows[2], rows[3])
		}

		// A deleted member is gone from the archive. Its tombstone stops an older batch from bringing it back.
		old := w.State(g)
		w.Remove(g, 3)
		w.Must(writer.Flush(ctx))
		w.InStep(g)
		lease, err := w.Archive.AcquireLease(ctx, "writer", stores.Taken, false)
		w.Must(err)
		w.Must(snapshot.WriteBatch(ctx, w.Archive, lease, snapshot.Batch{Guild: g, Epoch: old.Epoch, Rev: old.Archived, Known: math.MaxInt64, Rows: rows[3:]}))
		w.InStep(g)

		wrote := f.Count("WriteBatches")
		w.Must(writer.Flush(ctx))
		if n := f.Count("WriteBatches") - wrote; n != 0 {
			t.Errorf("%d batches were written without a change", n)
		}
	})
}

func TestChangesDuringAFlushAreWrittenByTheNext(t *testing.T) {
	w := stores.Embedded(t)
	g := w.Guild(stores.GuildA)
	w.Create(g, 1, 100)
	w.Create(g, 2, 100)
	f := &stores.Faults{}
	f.After = func(_ context.Context, c stores.Call) error {
		if c.Method == "ReadChanges" && c.N == 2 {
			w.Change(g, 1, leaderboard.Change{Op: leaderboard.Set, Amount: 500})
			w.Create(g, 3, 300)
			w.Remove(g, 2)
		}
		return nil
	}
	// A sweep would find the guild too. Only the first round sweeps.
	stop := w.Running(w.Writer("writer", 200*time.Millisecond, f))
	w.Eventually("the first round", func() bool { return f.Count("Survey") == 1 && w.NothingWaits(g) })
	w.Add(g, 1)
	w.Eventually("what changed meanwhile", func() bool { return f.Count("EndChanges") == 3 && w.NothingWaits(g) })
	stop()
	if n := f.Count("LoadedGuilds"); n != 1 {
		t.Errorf("the change was written after %d sweeps, want by the round after the first", n)
	}
	w.InStep(g)
}

func TestAWriterRepeatsAFailedRound(t *testing.T) {
	w := stores.Embedded(t)
	g := w.Guild(stores.GuildA)
	w.Create(g, 1, 100)
	w.Create(g, 2, 100)
	var sweeps int
	f := &stores.Faults{}
	f.Before = func(_ context.Context, c stores.Call) error {
		if c.Method == "EndChanges" && c.N == 1 {
			w.Add(g, 2)
			sweeps = f.Count("LoadedGuilds")
			return stores.ErrBroken
		}
		return nil
	}
	stop := w.Running(w.Writer("writer", 20*time.Millisecond, f))
	w.Eventually("both changes", func() bool { return f.Count("EndChanges") == 2 && w.NothingWaits(g) })
	// The failed round was a sweep, which reads all guilds after it has written the changed ones.
	if n := f.Count("LoadedGuilds"); n > sweeps+1 {
		t.Errorf("the newer change was written by sweep %d, want by an earlier round", n)
	}
	stop()
	w.InStep(g)
}

func TestImportedRowsAreLoaded(t *testing.T) {
	w := stores.Embedded(t)
	ctx := w.Context()
	g := leaderboard.Ref(storetest.PutGuild(t, w.Archive, stores.GuildA))
	rows := make([]snapshot.Row, 2500)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{UserID: stores.User(i), XP: 10, LastUpdated: time.UnixMilli(1767225600000).UTC()}}
	}
	writer := w.Writer("writer", stores.Never, &stores.Faults{})
	w.Must(writer.Import(ctx, g, rows))
	rows[7].XP = 99
	w.Must(writer.Import(ctx, g, rows[7:8]))
	w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, g))
	w.InStep(g)
	if got := w.LiveRows(g); len(got) != len(rows) || got[7].XP != 99 {
		t.Errorf("%d members are loaded, with %+v, want %d with 99 XP", len(got), got[7], len(rows))
	}

	other := w.Writer("other", stores.Never, &stores.Faults{})
	if err := other.Import(ctx, g, rows); !errors.Is(err, lease.ErrLost) {
		t.Errorf("an import without the lease: %v, want lease.ErrLost", err)
	}
	unknown := leaderboard.GuildRef{ID: g.ID, Incarnation: g.Incarnation ^ guild.Incarnation(1)}
	if err := writer.Import(ctx, unknown, rows); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("an import into an unknown incarnation: %v, want ErrStale", err)
	}
}

// Listing 100,000 guilds takes long on a busy Redis. Changed guilds are written meanwhile, and guilds that only the list names once the list
// is complete.
func TestSnapshotsContinueWhileGuildsAreListed(t *testing.T) {
	w := stores.Embedded(t)
	g, hidden := w.Guild(stores.GuildA), w.Guild("200000000000000002")
	w.Create(hidden, 1, 100)
	_, err := w.Live.ChangedGuilds(w.Context())
	w.Must(err)
	hook, _, listed := stores.Held("LoadedGuilds", 1)
	f := &stores.Faults{Before: hook}
	stop := w.Running(w.Writer("writer", 20*time.Millisecond, f))
	defer stop()
	for i := range 3 {
		w.Create(g, i, 100)
		w.Eventually("the change is written", func() bool { return f.Count("EndChanges") == i+1 && w.NothingWaits(g) })
	}
	if f.Count("LoadedGuilds") != 1 || w.NothingWaits(hidden) {
		t.Error("the list of guilds was complete before the test released it")
	}
	close(listed)
	w.Eventually("the hidden change is written", func() bool { return w.NothingWaits(hidden) })
	stop()
	w.InStep(g)
	w.InStep(hidden)

	// A process that stops does not wait for its list.
	f = &stores.Faults{Before: func(ctx context.Context, c stores.Call) error {
		if c.Method == "LoadedGuilds" {
			return stores.Until(ctx, nil)
		}
		return nil
	}}
	w.Killed("writer")
	again := w.Writer("again", 20*time.Millisecond, f)
	stop = w.Running(again)
	w.Eventually("a list", func() bool { return f.Count("LoadedGuilds") == 1 })
	stop()
	ctx, cancel := context.WithTimeout(w.Context(), 50*time.Millisecond)
	defer cancel()
	if err := again.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a last snapshot without the list of guilds: %v, want context.DeadlineExceeded", err)
	}
}
