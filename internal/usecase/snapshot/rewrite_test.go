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

// forgetful is an archive that says that it has committed and loses it for as long as a test wants, as one whose last commits were
// nowhere else when it failed over.
type forgetful struct {
	stores.Faults
	losing atomic.Bool
}

func newForgetful() *forgetful {
	f := &forgetful{}
	f.Lost = func(stores.Call) bool { return f.losing.Load() }
	return f
}

// wantRewritten fails the test unless the guild was found to be older in the archive so often, and all of it is archived, as a Redis sees that
// knows nothing.
func wantRewritten(w *stores.World, g leaderboard.GuildRef, times int) {
	w.Helper()
	w.InStep(g)
	if n := w.Logged.Count("the archive has gone back in time"); n != times {
		w.Errorf("%d lines about the archive, want %d:\n%s", n, times, w.Logged)
	}
	want := w.XPs(g)
	w.Must(w.Live.Drop(w.Context(), g))
	got := w.XPs(g)
	for member, xp := range want {
		if got[member] != xp {
			w.Errorf("member %s comes back with %d XP, want %d", member, got[member], xp)
		}
	}
	if len(got) != len(want) {
		w.Errorf("%d members come back, want %d", len(got), len(want))
	}
}

// What the archive lost after it had said that it was committed is noticed with the guild's next change, another member's too, and
// is written once more: changes, members that are new, and that one was deleted.
func TestWhatTheArchiveLostIsWrittenAgain(t *testing.T) {
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
			w.Fatal("what was said to be archived still waits")
		}
		f.losing.Store(false)

		w.Add(g, 0)
		w.Create(g, 2, 3)
		w.Must(writer.Flush(ctx))
		after := values(w, writer)
		if n := after["archive_went_back_total"] - before["archive_went_back_total"]; n != 1 {
			w.Errorf("%g guilds were counted, want 1", n)
		}
		if n := after["snapshot_failures_total"] - before["snapshot_failures_total"]; n != 0 {
			w.Errorf("%g failures were counted: it heals by itself", n)
		}
		wantRewritten(w, g, 1)
	}
	t.Run("a small guild", func(t *testing.T) { stores.OnServers(t, func(w *stores.World) { test(w, 5) }) })
	t.Run("a large guild", func(t *testing.T) { test(stores.Servers(t), 2500) })
}

// Nor is it lost when nothing of the guild changes any more: the writer compares all loaded guilds from time to time.
func TestWhatTheArchiveLostOfAQuietGuildIsWrittenAgain(t *testing.T) {
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
			t.Errorf("%d guilds were told of, want 20", n)
		}
	})
}

// A last snapshot looks as well, since Redis may be emptied after it.
func TestTheLastSnapshotFindsWhatTheArchiveLost(t *testing.T) {
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
			t.Errorf("a last snapshot that could not compare: %v", err)
		}
	})
}

// An archive that loses some batches of a flush, the first, one in between or the last, though nothing of the guild changed meanwhile, is
// found out by that flush or by the next.
func TestABatchThatIsLostInTheMiddleOfAFlush(t *testing.T) {
	const members = 4500
	w := stores.Servers(t)
	ctx, g := w.Context(), w.Archived(stores.GuildA, members)
	w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, g))
	for _, lost := range [][2]int{{1, 2}, {2, 3}, {2, 5}, {4, 5}, {5, 5}} { // from the first to the second of a flush's batches
		name := fmt.Sprintf("batches %d to %d", lost[0], lost[1])
		w.AddToAll(g, members)
		f := &stores.Faults{Lost: func(c stores.Call) bool { return c.Method == "WriteBatches" && c.N >= lost[0] && c.N <= lost[1] }}
		w.Must(w.Writer(name, stores.Never, f).Flush(ctx))
		w.Killed(name)
		w.Must(w.Writer("next", stores.Never, &stores.Faults{}).Flush(ctx))
		w.Killed("next")
		if w.InStep(g); t.Failed() {
			t.Fatal(name)
		}
	}
}

// Wherever it is cut off, and whether the writer continues or dies, the next one writes all of the guild, and what changed meanwhile.
func TestARewriteCutOffAnywhere(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		const members = 105 // more than go with other guilds
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
				t.Fatalf("%s: %v", name, err)
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
			t.Errorf("%d cases, want at least %d", cases, least)
		}
	})
}

// Another replica's batch that is committed, and noted, while the writer looks is not taken for one that was lost.
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

// A Redis that restarts with all that it had is used at once, though the archive has lost something of the guild meanwhile; then that is
// written again, even if nothing changes.
func TestAnArchiveThatLostSomethingAndARestartedRedis(t *testing.T) {
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
	w.WantXPs(g, 100, 101) // as a request loads it
	w.Must(writer.Flush(ctx))
	wantRewritten(w, g, 1)
}
