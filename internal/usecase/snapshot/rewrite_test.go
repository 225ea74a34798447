package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// forgetful is an archive that loses acknowledged commits while a test wants it, as after a failover without the last commits.
type forgetful struct {
	stores.Faults
	losing atomic.Bool
}

func newForgetful() *forgetful {
	f := &forgetful{}
	f.Lost = func(stores.Call) bool { return f.losing.Load() }
	return f
}

// wantRewritten fails unless the writer found the archive's guild stale this many times, and an empty Redis loads the whole guild from the
// archive.
func wantRewritten(w *stores.World, g leaderboard.GuildRef, times int) {
	w.Helper()
	w.InStep(g)
	if n := w.Logged.Count("the archive has gone back in time"); n != times {
		w.Errorf("%d log lines say that the archive has gone back, want %d:\n%s", n, times, w.Logged)
	}
	want := w.XPs(g)
	w.Must(w.Live.Drop(w.Context(), g))
	got := w.XPs(g)
	for member, xp := range want {
		if got[member] != xp {
			w.Errorf("member %s is loaded with %d XP, want %d", member, got[member], xp)
		}
	}
	if len(got) != len(want) {
		w.Errorf("%d members are loaded, want %d", len(got), len(want))
	}
}

// If the archive lost an acknowledged commit, the guild's next change, even of another member, reveals it. The writer writes the lost rows
// again: changes, new members and a deletion.
func TestRowsThatTheArchiveLostAreWrittenAgain(t *testing.T) {
	test := func(w *stores.World, size int) {
		ctx, g, f := w.Context(), w.Guild(stores.GuildA), newForgetful()
		writer := w.Writer("writer", stores.Never, &f.Faults)
		w.CreateMany(g, 0, size, 100)
		w.Must(writer.Flush(ctx))
		before := values(w, writer)

		f.losing.Store(true)
		for i := range size {
			w.Change(g, i, leaderboard.Change{Op: leaderboard.Increment, Amount: 7})
		}
		w.Remove(g, 1)
		w.Remove(g, 2)
		w.Create(g, size, 9)
		w.Must(writer.Flush(ctx))
		if !w.NothingWaits(g) {
			w.Fatal("changes still wait after the archive acknowledged them")
		}
		f.losing.Store(false)

		w.Add(g, 0)
		w.Create(g, 2, 3)
		w.Must(writer.Flush(ctx))
		after := values(w, writer)
		if n := after["archive_went_back_total"] - before["archive_went_back_total"]; n != 1 {
			w.Errorf("%g losses of the archive were counted, want 1", n)
		}
		if n := after["snapshot_failures_total"] - before["snapshot_failures_total"]; n != 0 {
			w.Errorf("%g failures were counted, want 0, because the writer recovers by itself", n)
		}
		wantRewritten(w, g, 1)
	}
	t.Run("a small guild", func(t *testing.T) { stores.OnServers(t, func(w *stores.World) { test(w, 5) }) })
	t.Run("a large guild", func(t *testing.T) { test(stores.Servers(t), 2500) })
}

// A guild that no longer changes is also written again, because the writer compares all loaded guilds from time to time.
func TestLostRowsOfAQuietGuildAreWrittenAgain(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		f := newForgetful()
		guilds := smallGuilds(w, 30)
		writer := w.Writer("first", stores.Never, &f.Faults)
		w.Must(writer.Flush(w.Context()))
		f.losing.Store(true)
		addAll(w, guilds[:20], 1)
		w.Must(writer.Flush(w.Context()))
		w.Must(writer.Release(w.Context()))
		f.losing.Store(false)

		stop := w.Running(w.Writer("second", 4*time.Millisecond, &f.Faults))
		w.Eventually("all is archived", func() bool {
			for _, g := range guilds[:20] {
				if !w.NothingWaits(g) || w.State(g).Archived < 4 {
					return false
				}
			}
			return true
		})
		stop()
		allInStep(w, guilds)
		if n := w.Logged.Count("the archive has gone back in time"); n != 20 {
			t.Errorf("%d log lines name a guild that went back, want 20", n)
		}
	})
}

// A last snapshot compares too, because Redis may be emptied after it.
func TestTheLastSnapshotFindsLostRows(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		f, g := newForgetful(), w.Guild(stores.GuildA)
		f.losing.Store(true)
		w.CreateMany(g, 0, 300, 5)
		w.Must(w.Writer("first", stores.Never, &f.Faults).Flush(w.Context()))
		f.losing.Store(false)
		w.Killed("first")
		w.Must(w.Writer("second", stores.Never, &f.Faults).Flush(w.Context()))
		wantRewritten(w, g, 1)

		f.Before = stores.At("States", f.Count("States")+1)
		w.Killed("second")
		if err := w.Writer("third", stores.Never, &f.Faults).Flush(w.Context()); !errors.Is(err, stores.ErrBroken) {
			t.Errorf("a last snapshot that could not compare: %v, want ErrBroken", err)
		}
	})
}

// The archive loses some batches of a flush: the first, one in the middle or the last. That flush or the next one finds out, even if the
// guild does not change.
func TestALostBatchOfAFlushIsWrittenAgain(t *testing.T) {
	const members = 4500
	w := stores.Servers(t)
	ctx, g := w.Context(), w.Archived(stores.GuildA, members)
	w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, g))
	for _, lost := range [][2]int{{1, 2}, {2, 3}, {2, 5}, {4, 5}, {5, 5}} { // first and last lost batch
		name := fmt.Sprintf("batches %d to %d", lost[0], lost[1])
		w.AddToAll(g, members)
		f := &stores.Faults{Lost: func(c stores.Call) bool { return c.Method == "WriteBatches" && c.N >= lost[0] && c.N <= lost[1] }}
		w.Must(w.Writer(name, stores.Never, f).Flush(ctx))
		w.Killed(name)
		w.Must(w.Writer("next", stores.Never, &stores.Faults{}).Flush(ctx))
		w.Killed("next")
		if w.InStep(g); t.Failed() {
			t.Fatalf("the case was %s", name)
		}
	}
}

// The rewrite is interrupted at any step, and the writer continues or dies. The next writer writes the whole guild with the later changes.
func TestAnInterruptedRewriteIsCompleted(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		const members = 105 // more than fit a group
		ctx, g, cases := w.Context(), w.Guild(stores.GuildA), 0
		w.CreateMany(g, 0, members, 100)
		w.Must(w.Writer("ready", stores.Never, &stores.Faults{}).Flush(ctx))
		w.Killed("ready")
		oneCase := func(name, method string, n int, after, dies bool) (fired bool) {
			cases++
			losing := &stores.Faults{Lost: func(stores.Call) bool { return true }}
			w.AddToAll(g, members)
			w.Must(w.Writer("losing", stores.Never, losing).Flush(ctx))
			w.Killed("losing")
			f := &stores.Faults{}
			cut := func(_ context.Context, c stores.Call) error {
				if !fired && c.Method == method && c.N == n {
					fired = true
					w.Add(g, 3)
					return stores.ErrBroken
				}
				if fired && dies {
					return stores.ErrBroken
				}
				return nil
			}
			if f.Before = cut; after {
				f.Before, f.After = nil, cut
			}
			w.Add(g, 0)
			if err := w.Writer("first", stores.Never, f).Flush(ctx); err != nil && (!fired || !errors.Is(err, stores.ErrBroken)) {
				t.Fatalf("%s: the flush returned %v, want ErrBroken", name, err)
			}
			w.Killed("first")
			w.Add(g, 1)
			w.Must(w.Writer("second", stores.Never, &stores.Faults{}).Flush(ctx))
			w.Killed("second")
			w.InStep(g)
			return fired
		}
		for _, method := range []string{"NoteUnsaved", "State", "NoteAllUnsaved", "Members", "LowerArchived", "ReadChanges", "WriteBatches", "EndChanges"} {
			for _, after := range []bool{false, true} {
				for _, dies := range []bool{false, true} {
					stores.EveryCall(t, func(n int) (name string, fired bool) {
						name = fmt.Sprintf("%s %d, after: %v, dies: %v", method, n, after, dies)
						return name, oneCase(name, method, n, after, dies)
					})
				}
			}
		}
		if least := 8 * 4 * 2; cases < least {
			t.Errorf("%d cases ran, want at least %d", cases, least)
		}
	})
}

// A batch that another replica commits and notes while the writer compares does not look like a loss.
func TestABatchOfAnotherReplicaIsNotTakenForALoss(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		ctx, g := w.Context(), w.Guild(stores.GuildA)
		w.Create(g, 1, 100)
		w.Must(w.Writer("first", stores.Never, &stores.Faults{}).Flush(ctx))
		w.Killed("first")
		for _, method := range []string{"Survey", "States", "NoteUnsaved", "State"} {
			for _, after := range []bool{false, true} {
				var done atomic.Bool
				meanwhile := func(_ context.Context, c stores.Call) error {
					if c.Method == method && done.CompareAndSwap(false, true) {
						w.Add(g, 1)
						lease, err := w.Archive.AcquireLease(ctx, "second", stores.Taken, false)
						w.Must(err)
						c := w.ReadChanges(g)
						w.Must(errors.Join(c.Err, snapshot.WriteBatch(ctx, w.Archive, lease, c.Batch)))
						_, errs := w.Live.EndChanges(ctx, []snapshot.Batch{c.Batch})
						w.Must(errs[0])
					}
					return nil
				}
				f := &stores.Faults{Before: meanwhile}
				if after {
					f = &stores.Faults{After: meanwhile}
				}
				w.Must(w.Writer("second", stores.Never, f).Flush(ctx))
				w.Killed("second")
				wantRewritten(w, g, 0)
			}
		}
	})
}

// A Redis that restarts with all its data is used at once, although the archive lost a part of the guild meanwhile. The writer writes that
// part again, even if nothing changes.
func TestLostRowsAreWrittenAgainAfterARestartOfRedis(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, f := w.Context(), w.Guild(stores.GuildA), newForgetful()
	writer := w.Writer("writer", stores.Never, &f.Faults)
	w.Create(g, 0, 100)
	w.Create(g, 1, 100)
	w.Must(writer.Flush(ctx))
	f.losing.Store(true)
	w.Add(g, 1)
	w.Must(writer.Flush(ctx))
	f.losing.Store(false)
	w.GoBack(w.Keep())
	w.WantXPs(g, 100, 101) // loads as a request does
	w.Must(writer.Flush(ctx))
	wantRewritten(w, g, 1)
}
