package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/storetest"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

const guildA id.Guild = "100000000000000001"

func TestChangesArriveInTheArchive(t *testing.T) {
	onBothStores(t, func(w *world) {
		ctx, f := w.Context(), &faults{}
		g := w.guild(guildA)
		writer := w.writer("writer", never, f)
		for i := range 4 {
			w.create(g, i, 100)
		}
		w.change(g, 1, leaderboard.Change{Op: leaderboard.Set, Amount: 7777, Cooldown: time.Hour})
		w.change(g, 2, leaderboard.Change{Op: leaderboard.Decrement, Amount: 30, Cooldown: 1500 * time.Millisecond})
		w.must(writer.Flush(ctx))
		w.inStep(g)
		rows := w.archivedRows(g)
		if rows[1].XP != 7777 || rows[1].CooldownUntil.Before(time.Now().Add(50*time.Minute)) || rows[1].LastUpdated.IsZero() {
			t.Errorf("archived %+v, want 7777 XP, a cooldown of an hour and the time of the change", rows[1])
		}
		if rows[2].XP != 70 || rows[2].User.Username != "gopher2" || *rows[2].User.GlobalName != "Gopher 2" || rows[3].User.GlobalName != nil {
			t.Errorf("archived %+v", rows[2])
		}

		// A member that was deleted is gone from the archive, and an older batch cannot bring it back: it left a tombstone.
		old := w.state(g)
		w.remove(g, 3)
		w.must(writer.Flush(ctx))
		w.inStep(g)
		lease, err := w.archive.AcquireLease(ctx, "writer", taken, false)
		w.must(err)
		w.must(snapshot.WriteBatch(ctx, w.archive, lease, snapshot.Batch{Guild: g, Epoch: old.Epoch, Rev: old.Archived, Known: math.MaxInt64, Rows: rows[3:]}))
		w.inStep(g)

		wrote := f.count("WriteBatches")
		w.must(writer.Flush(ctx))
		if n := f.count("WriteBatches") - wrote; n != 0 {
			t.Errorf("%d batches were written though nothing had changed", n)
		}
	})
}

func TestChangesDuringAFlushAreWrittenAfterIt(t *testing.T) {
	w := embeddedWorld(t)
	g := w.guild(guildA)
	w.create(g, 1, 100)
	w.create(g, 2, 100)
	f := &faults{}
	f.after = func(_ context.Context, c call) error {
		if c.method == "ReadChanges" && c.n == 2 {
			w.change(g, 1, leaderboard.Change{Op: leaderboard.Set, Amount: 500})
			w.create(g, 3, 300)
			w.remove(g, 2)
		}
		return nil
	}
	// A sweep would find the guild too: the first round sweeps, and the next ones do not.
	stop := w.running(w.writer("writer", 200*time.Millisecond, f))
	w.eventually("the first round", func() bool { return f.count("Survey") == 1 && w.nothingWaits(g) })
	w.add(g, 1)
	w.eventually("what changed meanwhile", func() bool { return f.count("EndChanges") == 3 && w.nothingWaits(g) })
	stop()
	if n := f.count("LoadedGuilds"); n != 1 {
		t.Errorf("the change was written after %d sweeps, want by the next round", n)
	}
	w.inStep(g)
}

// Whatever step of a flush fails, before its work or when only the answer was lost, and even if the writer is never heard of
// again: another writer brings the archive into step, with what changed since.
func TestAFlushCutOffAnywhereIsMadeGood(t *testing.T) {
	w := serverWorld(t)
	const changed = 1100 // two pages
	steps := []string{
		"ChangedGuilds", "LoadedGuilds", "AcquireLease", "ReadChanges", "WriteBatches", "EndChanges",
	}
	g := w.guild(guildA)
	for i := range changed {
		w.create(g, i, 100)
	}
	gone, cases := changed, 0
	for _, method := range steps {
		for _, after := range []bool{false, true} {
			for n := 1; ; n++ {
				cases++
				for i := range changed {
					if i < gone-20 {
						w.change(g, i, leaderboard.Change{Op: leaderboard.Increment, Amount: 3, Cooldown: time.Minute})
					}
				}
				gone--
				w.remove(g, gone)
				w.create(g, changed+cases, 5)
				f := &faults{before: at(method, n)}
				if after {
					f = &faults{after: at(method, n)}
				}
				name := fmt.Sprintf("%s %d, after the work: %v", method, n, after)
				err := w.writer("first", never, f).Flush(w.Context())
				fired := f.count(method) >= n
				if fired != (err != nil) || (fired && !errors.Is(err, errBroken)) {
					t.Fatalf("%s: %v", name, err)
				}
				w.killed("first")
				w.add(g, 0)
				w.remove(g, changed+cases)
				w.must(w.writer(name, never, &faults{}).Flush(w.Context()))
				w.killed(name)
				w.inStep(g)
				if t.Failed() {
					t.Fatal(name)
				}
				if !fired {
					break
				}
			}
		}
	}
	if cases < 2*(len(steps)+9) {
		t.Errorf("%d cases: some steps were not reached twice", cases)
	}
}

func TestTheSameWriterMakesItsFailuresGood(t *testing.T) {
	w := embeddedWorld(t)
	g := w.guild(guildA)
	w.create(g, 1, 100)
	w.create(g, 2, 100)
	var sweeps int
	f := &faults{}
	f.before = func(_ context.Context, c call) error {
		if c.method == "EndChanges" && c.n == 1 {
			w.add(g, 2)
			sweeps = f.count("LoadedGuilds")
			return errBroken
		}
		return nil
	}
	stop := w.running(w.writer("writer", 20*time.Millisecond, f))
	w.eventually("both changes", func() bool { return f.count("EndChanges") == 2 && w.nothingWaits(g) })
	// The round in which it failed was a sweep, and looked at all guilds after it had written the changed ones.
	if n := f.count("LoadedGuilds"); n > sweeps+1 {
		t.Errorf("the newer change waited for sweep %d", n)
	}
	stop()
	w.inStep(g)
}

func TestOnlyTheHolderOfTheLeaseWrites(t *testing.T) {
	onBothStores(t, func(w *world) {
		g := w.guild(guildA)
		w.create(g, 1, 100)
		first, f := w.writer("first", never, &faults{}), &faults{}
		w.must(first.Import(w.Context(), leaderboard.Ref(storetest.PutGuild(t, w.archive, "200000000000000002")), nil)) // takes the lease
		second := w.writer("second", 20*time.Millisecond, f)
		stop := w.running(second)
		defer stop()
		w.add(g, 1)
		w.eventually("tries for the lease", func() bool { return f.count("AcquireLease") > 3 })
		if f.count("ReadChanges") > 0 || len(w.archivedRows(g)) > 0 {
			t.Error("a writer without the lease wrote")
		}
		w.must(first.Release(w.Context()))
		w.eventually("the other takes over", func() bool {
			rows := w.archivedRows(g)
			return len(rows) == 1 && rows[0].XP == 101
		})

		// Now the first has to wait, and what it does meanwhile has no effect.
		wrote := w.state(g)
		w.must(first.Release(w.Context()))
		if got := w.state(g); got != wrote {
			t.Errorf("state %+v after %+v", got, wrote)
		}
	})
}

func TestALeaseOfADeadWriterPassesOn(t *testing.T) {
	w := embeddedWorld(t)
	g := w.guild(guildA)
	w.create(g, 1, 100)
	w.must(w.writer("first", time.Millisecond, &faults{}).Flush(w.Context()))
	// It died with the guild taken out of the index.
	w.add(g, 1)
	_, err := w.live.ChangedGuilds(w.Context())
	w.must(err)
	stop := w.running(w.writer("second", 20*time.Millisecond, &faults{}))
	w.eventually("the second writes", func() bool { return w.archivedRows(g)[0].XP == 101 })
	stop()
}

func TestAWriterWithoutItsLeaseWritesNothing(t *testing.T) {
	onBothStores(t, func(w *world) {
		g := w.guild(guildA)
		w.create(g, 1, 100)
		var passed atomic.Bool
		f := &faults{before: func(_ context.Context, c call) error {
			if c.method == "WriteBatches" {
				// It is cut off for longer than its lease lasts, and another one takes it.
				w.eventually("the lease passes on", func() bool {
					_, err := w.archive.AcquireLease(w.Context(), "second", taken, false)
					return err == nil
				})
				passed.Store(true)
			}
			if c.method == "AcquireLease" && c.n > 1 && !passed.Load() {
				return errBroken
			}
			return nil
		}}
		first := w.writer("first", time.Millisecond, f)
		ended := make(chan error, 1)
		go func() { ended <- first.Flush(w.Context()) }()
		w.eventually("it is left to the other one, which renews it", func() bool {
			if passed.Load() {
				_, err := w.archive.AcquireLease(w.Context(), "second", taken, false)
				w.must(err)
			}
			return len(ended) > 0
		})
		w.must(<-ended)
		if rows := w.archivedRows(g); len(rows) > 0 || w.state(g).Archived != 0 {
			t.Errorf("archived %+v, %+v", rows, w.state(g))
		}
		w.must(first.Release(w.Context()))
		w.must(w.writer("second", never, &faults{}).Flush(w.Context()))
		w.inStep(g)
	})
}

func TestADeletedGuildLeavesRedis(t *testing.T) {
	for name, dirty := range map[string]bool{"with changes": true, "without changes": false} {
		t.Run(name, func(t *testing.T) {
			w := embeddedWorld(t)
			ctx, writer := w.Context(), w.writer("writer", never, &faults{})
			old := w.guild(guildA)
			w.create(old, 1, 100)
			w.create(old, 2, 100)
			w.must(writer.Flush(ctx))
			if dirty {
				w.add(old, 1)
			}
			_, err := w.archive.DeleteGuild(ctx, guildA)
			w.must(err)
			w.must(writer.Flush(ctx))
			writer.Purge(ctx)
			if keys := w.redis.Keys(ctx, "lb:{*").Val(); len(keys) > 0 {
				t.Errorf("%v is still in Redis", keys)
			}
			recreated := w.guild(guildA)
			if recreated == old || len(w.liveRows(recreated)) != 0 {
				t.Fatalf("%v after %v: members %+v", recreated, old, w.liveRows(recreated))
			}
			w.create(recreated, 2, 7)
			w.must(writer.Flush(ctx))
			w.inStep(recreated)
			if rows := w.archivedRows(recreated); len(rows) != 1 || rows[0].XP != 7 {
				t.Errorf("members %+v, want its own one", rows)
			}
		})
	}
}

// The guild comes back before the writer has noticed that it was gone.
func TestARecreatedGuildKeepsOnlyItsOwnMembers(t *testing.T) {
	w := embeddedWorld(t)
	ctx, writer := w.Context(), w.writer("writer", never, &faults{})
	old := w.guild(guildA)
	w.create(old, 1, 100)
	_, err := w.archive.DeleteGuild(ctx, guildA)
	w.must(err)
	recreated := leaderboard.Ref(storetest.PutGuild(t, w.archive, guildA))
	w.must(writer.Flush(ctx)) // with the old one's changes
	if rows := w.archivedRows(recreated); len(rows) > 0 {
		t.Errorf("archived %+v", rows)
	}
	w.must(w.hydrator(&faults{}).Load(ctx, recreated))
	w.create(recreated, 2, 7)
	w.must(writer.Flush(ctx))
	w.inStep(recreated)
	if rows := w.archivedRows(recreated); len(rows) != 1 || rows[0].UserID != user(2) {
		t.Errorf("members %+v, want its own one", rows)
	}
}

func TestOneFailingGuildDoesNotKeepOthersBack(t *testing.T) {
	w := embeddedWorld(t)
	ctx := w.Context()
	var guilds []leaderboard.GuildRef
	for i := range 6 {
		guilds = append(guilds, w.guild(id.Guild(fmt.Sprintf("1%017d", i))))
	}
	bad, broken := guilds[2], true
	f := &faults{before: func(_ context.Context, c call) error {
		if broken && c.method == "WriteBatches" && slices.Contains(c.guilds, bad.ID) {
			return errBroken
		}
		return nil
	}}
	writer := w.writer("writer", never, f)
	round := func(fails bool, warnings, failures int) {
		t.Helper()
		broken = fails
		for _, g := range guilds {
			if _, err := w.live.Member(ctx, g, user(1)); err != nil {
				w.create(g, 1, 100)
			}
			w.add(g, 1)
		}
		if err := writer.Flush(ctx); errors.Is(err, errBroken) != fails {
			t.Errorf("flush: %v", err)
		}
		for _, g := range guilds {
			if g != bad || !fails {
				w.inStep(g)
			}
		}
		if n, errs := w.logged.count("could not be written"), w.logged.count("ERROR"); errs != failures || n != warnings+failures {
			t.Errorf("%d messages, and %d errors among them, want %d warnings and %d errors:\n%s", n, errs, warnings, failures, w.logged)
		}
	}
	round(true, 1, 0) // a server may just restart
	round(true, 1, 1)
	round(true, 1, 1)
	round(false, 1, 1)
	round(true, 2, 1)
}

func TestManyMembersAreWrittenInBoundedBatches(t *testing.T) {
	w := serverWorld(t)
	const changed = 20_000
	g := w.guild(guildA)
	for i := range changed {
		w.create(g, i, 1)
	}
	var rows, largest int
	f := &faults{before: func(_ context.Context, c call) error {
		if c.method == "WriteBatches" {
			rows, largest = rows+c.rows, max(largest, c.rows)
		}
		return nil
	}}
	w.must(w.writer("writer", never, f).Flush(w.Context()))
	if largest > 1000 || rows < changed {
		t.Errorf("%d rows, at most %d at once; want all %d, at most 1000 at once", rows, largest, changed)
	}
	w.inStep(g)
}

// Redis holds an older load of the guild than the archive: it is loaded again, with what had changed and was not archived.
func TestAnOlderEpochIsLoadedAgain(t *testing.T) {
	w := embeddedWorld(t)
	g := w.guild(guildA)
	w.create(g, 1, 100)
	s, err := w.archive.RaiseEpoch(w.Context(), g, w.state(g), 0)
	w.must(err)
	w.must(w.writer("writer", never, &faults{}).Flush(w.Context()))
	if rows := w.archivedRows(g); len(rows) != 1 || rows[0].XP != 100 || w.state(g).Epoch != s.Epoch+1 {
		t.Errorf("archived %+v at %+v, want the member, one epoch later", rows, w.state(g))
	}
	w.inStep(g)
}

// A long round keeps its lease: nobody else can take it, however far it is past its first end.
func TestALongRoundKeepsItsLease(t *testing.T) {
	w := embeddedWorld(t)
	g := w.guild(guildA)
	w.create(g, 1, 100)
	f := &faults{}
	f.before = func(_ context.Context, c call) error {
		if c.method == "WriteBatches" {
			w.eventually("renewals", func() bool {
				_, err := w.archive.AcquireLease(w.Context(), "second", taken, false)
				if !errors.Is(err, lease.ErrLost) {
					t.Errorf("the lease of a round under way: %v", err)
				}
				return f.count("AcquireLease") > 12
			})
		}
		return nil
	}
	w.must(w.writer("first", 2*time.Second, f).Flush(w.Context()))
	w.inStep(g)
}

func TestImport(t *testing.T) {
	w := embeddedWorld(t)
	ctx := w.Context()
	g := leaderboard.Ref(storetest.PutGuild(t, w.archive, guildA))
	rows := make([]snapshot.Row, 2500)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{UserID: user(i), XP: 10, LastUpdated: time.UnixMilli(1767225600000).UTC()}}
	}
	writer := w.writer("writer", never, &faults{})
	w.must(writer.Import(ctx, g, rows))
	rows[7].XP = 99
	w.must(writer.Import(ctx, g, rows[7:8]))
	w.must(w.hydrator(&faults{}).Load(ctx, g))
	w.inStep(g)
	if got := w.liveRows(g); len(got) != len(rows) || got[7].XP != 99 {
		t.Errorf("%d members, %+v", len(got), got[7])
	}

	other := w.writer("other", never, &faults{})
	if err := other.Import(ctx, g, rows); !errors.Is(err, lease.ErrLost) {
		t.Errorf("without the lease: %v", err)
	}
	unknown := leaderboard.GuildRef{ID: g.ID, Incarnation: g.Incarnation ^ guild.Incarnation(1)}
	if err := writer.Import(ctx, unknown, rows); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("into an unknown incarnation: %v", err)
	}
}

// To list 100,000 guilds takes long where Redis has its hands full. What changes meanwhile is written all the same, and what only the
// list names is once it is there.
func TestSnapshotsGoOnWhileTheGuildsAreListed(t *testing.T) {
	w := embeddedWorld(t)
	g, hidden := w.guild(guildA), w.guild("200000000000000002")
	w.create(hidden, 1, 100)
	_, err := w.live.ChangedGuilds(w.Context())
	w.must(err)
	hook, _, listed := held("LoadedGuilds", 1)
	f := &faults{before: hook}
	stop := w.running(w.writer("writer", 20*time.Millisecond, f))
	defer stop()
	for i := range 3 {
		w.create(g, i, 100)
		w.eventually("the change is written", func() bool { return f.count("EndChanges") == i+1 && w.nothingWaits(g) })
	}
	if f.count("LoadedGuilds") != 1 || w.nothingWaits(hidden) {
		t.Error("the list was there before it was made")
	}
	close(listed)
	w.eventually("the hidden change is written", func() bool { return w.nothingWaits(hidden) })
	stop()
	w.inStep(g)
	w.inStep(hidden)

	// A process that ends does not wait for its list.
	f = &faults{before: func(ctx context.Context, c call) error {
		if c.method == "LoadedGuilds" {
			return until(ctx, nil)
		}
		return nil
	}}
	w.killed("writer")
	again := w.writer("again", 20*time.Millisecond, f)
	stop = w.running(again)
	w.eventually("a list", func() bool { return f.count("LoadedGuilds") == 1 })
	stop()
	ctx, cancel := context.WithTimeout(w.Context(), 50*time.Millisecond)
	defer cancel()
	if err := again.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the last snapshot looked at all guilds without a list of them: %v", err)
	}
}

// Another writer took a changed guild out of the index and died. Whoever comes next finds it at once, not at some later sweep.
func TestANewHolderLooksBeyondTheIndex(t *testing.T) {
	w := embeddedWorld(t)
	g, f := w.guild(guildA), &faults{}
	var rounds []int
	f.before = func(_ context.Context, c call) error {
		if c.method == "WriteBatches" {
			rounds = append(rounds, f.count("LoadedGuilds"))
		}
		return nil
	}
	lose := func() {
		w.add(g, 1)
		_, err := w.live.ChangedGuilds(w.Context())
		w.must(err)
	}
	writer := w.writer("writer", 20*time.Millisecond, f)
	w.create(g, 1, 100)
	w.must(writer.Flush(w.Context()))
	lose()
	w.must(writer.Flush(w.Context()))
	w.inStep(g)
	w.must(writer.Release(w.Context()))
	lose()
	stop := w.running(writer)
	w.eventually("the guild is found", func() bool { return f.count("EndChanges") == 3 && w.nothingWaits(g) })
	stop()
	w.inStep(g)
	if fmt.Sprint(rounds) != "[0 2 3]" { // the first was in the index
		t.Errorf("written in the sweeps %v, want in each at once", rounds)
	}
}
