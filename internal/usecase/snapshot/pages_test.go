package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// smallGuilds creates guilds of three members each.
func smallGuilds(w *stores.World, count int) []leaderboard.GuildRef {
	w.Helper()
	guilds := make([]leaderboard.GuildRef, count)
	for i := range guilds {
		guilds[i] = w.Guild(id.Guild(fmt.Sprintf("1%017d", i)))
		for n := range 3 {
			w.Create(guilds[i], n, 100)
		}
	}
	return guilds
}

func addAll(w *stores.World, guilds []leaderboard.GuildRef, i int) {
	w.Helper()
	for _, g := range guilds {
		w.Add(g, i)
	}
}

func allInStep(w *stores.World, guilds []leaderboard.GuildRef) {
	w.Helper()
	for _, g := range guilds {
		w.InStep(g)
	}
}

// nobodyWaitsUnseen fails if a guild with waiting changes is not in the index of changed guilds.
func nobodyWaitsUnseen(w *stores.World, guilds []leaderboard.GuildRef) {
	w.Helper()
	indexed, err := w.Redis.ZRange(w.Context(), "lb:changed-guilds", 0, -1).Result()
	w.Must(err)
	for _, g := range guilds {
		if !w.NothingWaits(g) && !slices.Contains(indexed, string(g.ID)) {
			w.Errorf("guild %s has waiting changes and is not in the index", g.ID)
		}
	}
}

// Each step of a group fails: before its work, midway, or after it without an answer. The writer continues or dies. The next writer
// archives everything, with the changes made meanwhile, and nothing is lost or written twice.
func TestAnInterruptedGroupIsCompleted(t *testing.T) {
	w := stores.Servers(t)
	guilds := smallGuilds(w, 6)
	w.Must(w.Writer("ready", stores.Never, &stores.Faults{}).Flush(w.Context()))
	w.Killed("ready")
	cases, members := 0, 3
	oneCase := func(name, method string, n int, hook func(f *stores.Faults) *func(context.Context, stores.Call) error, dies bool) (fired bool) {
		cases++
		addAll(w, guilds, 0)
		for _, g := range guilds[2:4] { // left by an earlier writer
			w.Must(w.ReadChanges(g).Err)
			w.Add(g, 2)
		}
		w.Remove(guilds[5], members-1)
		w.Create(guilds[5], members, 7)
		members++
		f := &stores.Faults{}
		meet := func(_ context.Context, c stores.Call) error {
			if c.Method != method || c.N != n {
				return nil
			}
			fired = true
			addAll(w, guilds, 1) // while the group is written
			return stores.ErrBroken
		}
		*hook(f) = meet
		inner := f.Before
		f.Before = func(ctx context.Context, c stores.Call) error {
			if dies && fired {
				return stores.ErrBroken
			}
			if c.Method == "WriteBatches" && c.N == 1 {
				w.Add(guilds[1], 1) // so that the guild still waits
			}
			if inner != nil {
				return inner(ctx, c)
			}
			return nil
		}
		err := w.Writer("first", stores.Never, f).Flush(w.Context())
		if err != nil && (!fired || !errors.Is(err, stores.ErrBroken)) {
			t.Fatalf("%s: the flush returned %v, want ErrBroken", name, err)
		}
		if !dies && method != "ChangedGuilds" && method != "LoadedGuilds" {
			nobodyWaitsUnseen(w, guilds)
		}
		w.Killed("first")
		addAll(w, guilds[:3], 2)
		w.Must(w.Writer(name, stores.Never, &stores.Faults{}).Flush(w.Context()))
		w.Killed(name)
		allInStep(w, guilds)
		return fired
	}
	hooks := map[string]func(f *stores.Faults) *func(context.Context, stores.Call) error{
		"before": func(f *stores.Faults) *func(context.Context, stores.Call) error { return &f.Before },
		"torn":   func(f *stores.Faults) *func(context.Context, stores.Call) error { return &f.Torn },
		"after":  func(f *stores.Faults) *func(context.Context, stores.Call) error { return &f.After },
	}
	for _, method := range []string{"ChangedGuilds", "LoadedGuilds", "ReadChanges", "WriteBatches", "EndChanges"} {
		for when, hook := range hooks {
			for _, dies := range []bool{false, true} {
				stores.EveryCall(t, func(n int) (name string, fired bool) {
					name = fmt.Sprintf("%s %d %s, dies: %v", method, n, when, dies)
					return name, oneCase(name, method, n, hook, dies)
				})
			}
		}
	}
	if least := 2 * (2*2*2 + 2*3*3); cases < least {
		t.Errorf("%d cases ran, want at least %d: some steps were not reached twice", cases, least)
	}
	// An empty Redis loads from the archive what the old one had.
	g, before := guilds[3], w.LiveRows(guilds[3])
	w.Must(w.Live.Drop(w.Context(), g))
	w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
	if after := w.LiveRows(g); len(after) != 3 || after[0].XP != before[0].XP || after[1].XP != before[1].XP || after[2].XP != before[2].XP {
		t.Errorf("after a load the members are %+v, want %+v", after, before)
	}
}

// A group is committed and only the answer is lost. Its guilds are then written one by one, though the archive has their batches already. That
// must not look like a stale Redis. A member that was deleted meanwhile stays deleted.
func TestAGroupWhoseAnswerWasLostIsNoLoss(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		guilds := smallGuilds(w, 3)
		f := &stores.Faults{}
		f.After = func(_ context.Context, c stores.Call) error {
			if c.Method != "WriteBatches" || c.N != 1 {
				return nil
			}
			w.Remove(guilds[0], 2)
			return stores.ErrBroken
		}
		writer := w.Writer("writer", stores.Never, f)
		w.Must(writer.Flush(w.Context()))
		w.Must(writer.Flush(w.Context()))
		if n := f.Count("Distrust"); n > 0 {
			w.Errorf("%d guilds were distrusted as older than the archive, want 0", n)
		}
		if rows := w.LiveRows(guilds[0]); len(rows) != 2 {
			w.Errorf("%d members are left, want 2: one was deleted", len(rows))
		}
		allInStep(w, guilds)
	})
}

// Guilds that stop matching the archive, at any step, are left out of their group. The others are written.
func TestStaleGuildsAreLeftOutOfTheirGroup(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		ctx := w.Context()
		guilds := smallGuilds(w, 8)
		w.Must(w.Writer("ready", stores.Never, &stores.Faults{}).Flush(ctx))
		w.Killed("ready")
		for round, method := range []string{"ReadChanges", "WriteBatches", "EndChanges"} {
			addAll(w, guilds, 0)
			var deleted, recreated leaderboard.GuildRef
			f := &stores.Faults{}
			f.Before = func(_ context.Context, c stores.Call) error {
				if c.Method != method || c.N != 1 {
					return nil
				}
				// One guild is created again, one reloaded by another process, one has a batch that Redis does not know, and one is evicted.
				deleted = guilds[1]
				_, err := w.Archive.DeleteGuild(ctx, deleted.ID)
				w.Must(err)
				recreated = leaderboard.Ref(storetest.PutGuild(w.T, w.Archive, deleted.ID))
				_, err = w.Archive.RaiseEpoch(ctx, guilds[3], w.State(guilds[3]), hydrate.Reloaded)
				w.Must(err)
				lease, err := w.Archive.AcquireLease(ctx, "writer", stores.Taken, false)
				w.Must(err)
				s := w.State(guilds[5])
				w.Must(snapshot.WriteBatch(ctx, w.Archive, lease, snapshot.Batch{Guild: guilds[5], Epoch: s.Epoch, Rev: s.Archived + 50, Known: s.Archived}))
				w.Must(w.Live.Drop(ctx, guilds[6]))
				return nil
			}
			writer := w.Writer("writer", stores.Never, f)
			w.Must(writer.Flush(ctx))
			if n := f.Count("WriteBatches"); n != 1 {
				w.Errorf("%s: the group took %d transactions, want 1", method, n)
			}
			for _, i := range []int{0, 2, 4, 7} {
				w.InStep(guilds[i])
			}
			if rows := w.ArchivedRows(recreated); len(rows) > 0 {
				w.Errorf("%s: the new incarnation has the old one's rows %+v", method, rows)
			}
			for _, g := range []leaderboard.GuildRef{recreated, guilds[6]} {
				w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, g))
			}
			guilds[1] = recreated
			for n := range 3 {
				w.Create(recreated, n, 100)
			}
			addAll(w, guilds, 1) // found with the next batch
			w.Must(writer.Flush(ctx))
			allInStep(w, guilds)
			for _, i := range []int{3, 5} {
				if xp := w.LiveRows(guilds[i])[0].XP; int(xp) != 101+round {
					w.Errorf("%s: guild %d has %d XP, want %d", method, i, xp, 101+round)
				}
			}
			w.Must(writer.Release(ctx))
			if w.Failed() {
				w.Fatalf("the failing step was %s", method)
			}
		}
	})
}

// While the archive rejects everything, a group of guilds costs a few attempts and one line in the log, and all its guilds wait.
func TestARejectingArchiveCostsFewAttempts(t *testing.T) {
	w := stores.Embedded(t)
	guilds := smallGuilds(w, 50)
	broken := true
	f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
		if broken && c.Method == "WriteBatches" {
			return stores.ErrBroken
		}
		return nil
	}}
	writer := w.Writer("writer", stores.Never, f)
	before := values(w, writer)["snapshot_failures_total"]
	for range 2 {
		if err := writer.Flush(w.Context()); !errors.Is(err, stores.ErrBroken) {
			t.Fatal(err)
		}
	}
	if n := values(w, writer)["snapshot_failures_total"] - before; n != 100 {
		t.Errorf("%g failures were counted, want 50 in each of two rounds", n)
	}
	if n := f.Count("WriteBatches"); n > 2*3 {
		t.Errorf("%d transactions were tried, want one of all and two of single guilds in each round", n)
	}
	if n := w.Logged.Count("could not be written"); n < 1 || n > 4 {
		t.Errorf("%d log lines about failed writes, want 1 to 4:\n%s", n, w.Logged)
	}
	nobodyWaitsUnseen(w, guilds)
	broken = false
	w.Must(writer.Flush(w.Context()))
	allInStep(w, guilds)
}
