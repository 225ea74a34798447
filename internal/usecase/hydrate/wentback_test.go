package hydrate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"levelboard/internal/domain/level"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// refusesAll fails the test if the guild answers a read or accepts a change.
func refusesAll(w *stores.World, g leaderboard.GuildRef) {
	w.Helper()
	ctx := w.Context()
	_, member := w.Live.Member(ctx, g, stores.User(0))
	_, page := w.Live.Page(ctx, g, 0, 10)
	_, version := w.Live.Version(ctx, g)
	_, created := w.Live.Create(ctx, g, stores.User(9), leaderboard.Creation{XP: 1})
	_, changed := w.Live.Change(ctx, g, stores.User(0), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
	_, deleted := w.Live.Delete(ctx, g, stores.User(0), leaderboard.Removal{})
	for what, err := range map[string]error{
		"member": member, "page": page, "version": version, "create": created, "change": changed, "delete": deleted,
	} {
		if !errors.Is(err, leaderboard.ErrNotLoaded) {
			w.Errorf("%s before the verification: %v, want ErrNotLoaded", what, err)
		}
	}
	if c := w.ReadChanges(g); !errors.Is(c.Err, snapshot.ErrUnverified) || c.Batch.Guild != g || len(c.Batch.Rows) > 0 {
		w.Errorf("the changes before the verification are %+v, want ErrUnverified with the guild", c)
	}
}

// Redis comes back with a dump that is older than the archive. It answers and changes nothing before the guild is loaded again. Then no
// member has less XP than in the dump or the archive.
func TestAnOldDumpIsNoticedBeforeItIsUsed(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, writer := w.Context(), w.Guild(stores.GuildA), w.Writer("writer", stores.Never, &stores.Faults{})
	for i := range 5 {
		w.Create(g, i, 100)
	}
	w.Must(writer.Flush(ctx))
	w.Change(g, 1, leaderboard.Change{Op: leaderboard.Increment, Amount: 50}) // in the dump, not in the archive
	w.Create(g, 5, 70)
	w.Remove(g, 4)
	dump := w.Keep()
	w.Must(writer.Flush(ctx))
	w.Change(g, 0, leaderboard.Change{Op: leaderboard.Increment, Amount: 7})
	w.Change(g, 1, leaderboard.Change{Op: leaderboard.Increment, Amount: 7})
	w.Remove(g, 5)
	w.Must(writer.Flush(ctx))

	w.GoBack(dump)
	refusesAll(w, g)
	w.WantXPs(g, 107, 157, 100, 100, -1, -1)
	if n := w.Logged.Count("gone back in time"); n != 1 {
		t.Errorf("%d log lines say that Redis has gone back, want 1:\n%s", n, w.Logged)
	}
	w.Add(g, 0)
	w.Must(writer.Flush(ctx))
	w.InStep(g)
	if n := w.Logged.Count("gone back in time"); n != 1 {
		t.Errorf("%d log lines say that Redis has gone back, want 1", n)
	}
}

// The dump has acknowledged changes that were not archived. They are kept, though the archive has newer changes.
func TestUnsavedChangesOfAnOldDumpAreKept(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, writer := w.Context(), w.Guild(stores.GuildA), w.Writer("writer", stores.Never, &stores.Faults{})
	for _, i := range []int{0, 1, 2, 4, 5, 6} {
		w.Create(g, i, 100)
	}
	w.Must(writer.Flush(ctx))
	w.Add(g, 0)
	w.Remove(g, 4)
	w.Must(w.ReadChanges(g).Err) // its writer dies
	w.Add(g, 1)
	w.Create(g, 3, 30)
	w.Remove(g, 5)
	w.Remove(g, 6)
	dump := w.Keep()
	// Only other members are archived, as if the rest had been in a batch that was never written.
	w.Add(g, 2)
	w.Create(g, 6, 60)
	lease, err := w.Archive.AcquireLease(ctx, "writer", stores.Taken, false)
	w.Must(err)
	b := w.ReadChanges(g).Batch
	b.Rows = slices.DeleteFunc(b.Rows, func(r snapshot.Row) bool { return r.UserID != stores.User(2) && r.UserID != stores.User(6) })
	w.Must(snapshot.WriteBatch(ctx, w.Archive, lease, b))

	w.GoBack(dump)
	w.WantXPs(g, 101, 101, 101, 30, -1, -1, 60)
	w.Must(writer.Flush(ctx))
	w.InStep(g)
}

// A member's change waits when the dump is made, and the member is deleted before the change is archived. The tombstone has the rev of
// that change. The member stays deleted.
func TestADeletionOfAMemberWithAnUnsavedChangeIsKept(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, writer := w.Context(), w.Guild(stores.GuildA), w.Writer("writer", stores.Never, &stores.Faults{})
	w.Create(g, 0, 100)
	w.Must(writer.Flush(ctx))
	w.Add(g, 0)
	dump := w.Keep()
	w.Remove(g, 0)
	w.Must(writer.Flush(ctx))
	w.Create(g, 0, 5) // never archived
	w.GoBack(dump)
	w.WantXPs(g, -1)
	w.Must(writer.Flush(ctx))
	w.InStep(g)
}

// The load of such a guild is interrupted at any step and repeated, with the same result.
func TestAnInterruptedSalvageIsRepeated(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, writer := w.Context(), w.Guild(stores.GuildA), w.Writer("writer", stores.Never, &stores.Faults{})
	w.Create(g, 0, 100)
	w.Create(g, 1, 100)
	w.Create(g, 2, 100)
	w.Must(writer.Flush(ctx))
	w.Change(g, 0, leaderboard.Change{Op: leaderboard.Set, Amount: 1000})
	w.Add(g, 2)
	dump := w.Keep()
	w.Change(g, 1, leaderboard.Change{Op: leaderboard.Set, Amount: 2000})
	w.Remove(g, 2)
	w.Must(writer.Flush(ctx))
	for _, method := range []string{"Unsaved", "Salvage", "RaiseEpoch", "Members", "LoadChunk", "CommitHydration"} {
		for name, f := range map[string]*stores.Faults{"before": {Before: stores.At(method, 1)}, "after": {After: stores.At(method, 1)}} {
			w.GoBack(dump)
			if err := w.Hydrator(f).Load(ctx, g); !errors.Is(err, stores.ErrBroken) {
				t.Fatalf("%s %s: the load returned %v, want ErrBroken", name, method, err)
			}
			w.WantXPs(g, 1000, 2000, -1)
		}
	}
}

// A batch that was read before the server went back arrives late. After a verification on the server that came back, which lacks the
// batch, it must not be archived. If the batch came first, the server has the older data.
func TestALateBatchOfTheOldServerIsRefused(t *testing.T) {
	for name, late := range map[string]bool{"after the verification": true, "during it": false} {
		t.Run(name, func(t *testing.T) {
			w := stores.Restorable(t)
			ctx, g, writer := w.Context(), w.Guild(stores.GuildA), w.Writer("writer", stores.Never, &stores.Faults{})
			w.Create(g, 0, 100)
			w.Must(writer.Flush(ctx))
			dump := w.Keep()
			w.Add(g, 0)
			lease, err := w.Archive.AcquireLease(ctx, "writer", stores.Taken, false)
			w.Must(err)
			b := w.ReadChanges(g).Batch
			w.GoBack(dump)
			if late {
				w.WantXPs(g, 100)
				if err := snapshot.WriteBatch(ctx, w.Archive, lease, b); !errors.Is(err, snapshot.ErrStale) {
					t.Errorf("the late batch: %v, want ErrStale", err)
				}
				w.WantXPs(g, 100)
				return
			}
			var once sync.Once
			f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
				if c.Method == "RaiseEpoch" {
					once.Do(func() { w.Must(snapshot.WriteBatch(ctx, w.Archive, lease, b)) })
				}
				return nil
			}}
			w.Must(w.Hydrator(f).Load(ctx, g))
			w.WantXPs(g, 101)
			if w.Logged.Count("gone back") != 1 {
				t.Errorf("the log does not say once that Redis has gone back:\n%s", w.Logged)
			}
		})
	}
}

// A server's data becomes older without a sign. The guild's next snapshot notices that, even after so many changes on the old data that
// its rev exceeds the archived one.
func TestTheNextSnapshotNoticesOlderData(t *testing.T) {
	for _, size := range []int{3, 300} { // a guild in a group, and one that is written alone
		for _, changes := range []int{1, 9} {
			t.Run(fmt.Sprintf("%d members, %d changes", size, changes), func(t *testing.T) {
				w := stores.Servers(t)
				ctx, g, writer := w.Context(), w.Guild(stores.GuildA), w.Writer("writer", stores.Never, &stores.Faults{})
				w.CreateMany(g, 0, size, 100)
				w.Must(writer.Flush(ctx))
				w.AddToAll(g, size)
				putBack := keepKeys(w, g)
				for range 5 {
					w.Add(g, 0)
				}
				w.Must(writer.Flush(ctx))
				putBack()
				for range changes {
					w.Add(g, 1)
				}
				w.Must(writer.Flush(ctx))
				w.WantXPs(g, 106, 101+level.XP(changes), 101)
				w.InStep(g)
				if n := w.Logged.Count("Redis has gone back in time"); n != 1 {
					t.Errorf("%d log lines say that Redis has gone back, want 1:\n%s", n, w.Logged)
				}
			})
		}
	}
}

// keepKeys returns a function that restores the guild's keys as they are now.
func keepKeys(w *stores.World, g leaderboard.GuildRef) (putBack func()) {
	w.Helper()
	ctx := w.Context()
	names := func() []string { return w.Redis.Keys(ctx, "lb:{"+string(g.ID)+"}:*").Val() }
	dumps := map[string]string{}
	for _, name := range names() {
		dump, err := w.Redis.Dump(ctx, name).Result()
		w.Must(err)
		dumps[name] = dump
	}
	return func() {
		w.Must(w.Redis.Del(ctx, names()...).Err())
		for name, dump := range dumps {
			w.Must(w.Redis.Restore(ctx, name, 0, dump).Err())
		}
	}
}

// An archive restored from a backup knows less than Redis. The operator has to decide, so nothing is overwritten.
func TestAnArchiveOlderThanRedisIsLeftAlone(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g := w.Context(), w.Guild(stores.GuildA)
	w.Create(g, 0, 100)
	w.Must(w.Redis.HSet(ctx, "lb:{"+string(g.ID)+"}:meta", "epoch", 9).Err())
	w.GoBack(w.Keep())
	if err := w.Hydrator(&stores.Faults{}).Load(ctx, g); !errors.Is(err, hydrate.ErrArchiveOlder) {
		t.Errorf("the load: %v, want ErrArchiveOlder", err)
	}
	if err := w.Writer("writer", stores.Never, &stores.Faults{}).Flush(ctx); !errors.Is(err, hydrate.ErrArchiveOlder) {
		t.Errorf("the flush: %v, want ErrArchiveOlder", err)
	}
	if xp := w.Redis.ZScore(ctx, "lb:{"+string(g.ID)+"}:xp", string(stores.User(0))).Val(); xp != 100 {
		t.Errorf("Redis has %v XP, want 100", xp)
	}
}
