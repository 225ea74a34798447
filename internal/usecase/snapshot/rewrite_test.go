package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// forgetful is an archive that says that it has committed and loses it for as long as a test wants, as one whose last commits were
// nowhere else when it failed over.
type forgetful struct {
	faults
	losing atomic.Bool
}

func newForgetful() *forgetful {
	f := &forgetful{}
	f.lost = func(call) bool { return f.losing.Load() }
	return f
}

// wantRewritten fails the test unless the guild was found to be older in the archive so often, and all of it is archived, as a Redis sees that
// knows nothing.
func (w *world) wantRewritten(g leaderboard.GuildRef, times int) {
	w.Helper()
	w.inStep(g)
	if n := w.logged.count("the archive has gone back in time"); n != times {
		w.Errorf("%d lines about the archive, want %d:\n%s", n, times, w.logged)
	}
	want := w.xps(g)
	w.must(w.live.Drop(w.Context(), g))
	got := w.xps(g)
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
	test := func(w *world, size int) {
		ctx, g, f := w.Context(), w.guild(guildA), newForgetful()
		writer := w.writer("writer", never, &f.faults)
		for i := range size {
			w.create(g, i, 100)
		}
		w.must(writer.Flush(ctx))
		before := w.values(writer)

		f.losing.Store(true)
		for i := range size {
			w.change(g, i, leaderboard.Change{Op: leaderboard.Increment, Amount: 7})
		}
		w.remove(g, 1)
		w.remove(g, 2)
		w.create(g, size, 9)
		w.must(writer.Flush(ctx))
		if !w.nothingWaits(g) {
			w.Fatal("what was said to be archived still waits")
		}
		f.losing.Store(false)

		w.add(g, 0)
		w.create(g, 2, 3)
		w.must(writer.Flush(ctx))
		after := w.values(writer)
		if n := after["archive_went_back_total"] - before["archive_went_back_total"]; n != 1 {
			w.Errorf("%g guilds were counted, want 1", n)
		}
		if n := after["snapshot_failures_total"] - before["snapshot_failures_total"]; n != 0 {
			w.Errorf("%g failures were counted: it heals by itself", n)
		}
		w.wantRewritten(g, 1)
	}
	t.Run("a small guild", func(t *testing.T) { onBothStores(t, func(w *world) { test(w, 5) }) })
	t.Run("a large guild", func(t *testing.T) { test(serverWorld(t), 2500) })
}

// Nor is it lost when nothing of the guild changes any more: the writer compares all loaded guilds from time to time.
func TestWhatTheArchiveLostOfAQuietGuildIsWrittenAgain(t *testing.T) {
	onBothStores(t, func(w *world) {
		f := newForgetful()
		guilds := w.smallGuilds(30)
		writer := w.writer("first", never, &f.faults)
		w.must(writer.Flush(w.Context()))
		f.losing.Store(true)
		w.addAll(guilds[:20], 1)
		w.must(writer.Flush(w.Context()))
		w.must(writer.Release(w.Context()))
		f.losing.Store(false)

		stop := w.running(w.writer("second", 4*time.Millisecond, &f.faults))
		w.eventually("all is archived", func() bool {
			for _, g := range guilds[:20] {
				if !w.nothingWaits(g) || w.state(g).Archived < 4 {
					return false
				}
			}
			return true
		})
		stop()
		w.allInStep(guilds)
		if n := w.logged.count("the archive has gone back in time"); n != 20 {
			t.Errorf("%d guilds were told of, want 20", n)
		}
	})
}

// A last snapshot looks as well, since Redis may be emptied after it.
func TestTheLastSnapshotFindsWhatTheArchiveLost(t *testing.T) {
	onBothStores(t, func(w *world) {
		f, g := newForgetful(), w.guild(guildA)
		f.losing.Store(true)
		for i := range 300 {
			w.create(g, i, 5)
		}
		w.must(w.writer("first", never, &f.faults).Flush(w.Context()))
		f.losing.Store(false)
		w.killed("first")
		w.must(w.writer("second", never, &f.faults).Flush(w.Context()))
		w.wantRewritten(g, 1)

		f.before = at("States", f.count("States")+1)
		w.killed("second")
		if err := w.writer("third", never, &f.faults).Flush(w.Context()); !errors.Is(err, errBroken) {
			t.Errorf("a last snapshot that could not compare: %v", err)
		}
	})
}

// An archive that loses some batches of a flush, the first, one in between or the last, though nothing of the guild changed meanwhile, is
// found out by that flush or by the next.
func TestABatchThatIsLostInTheMiddleOfAFlush(t *testing.T) {
	const members = 4500
	w := serverWorld(t)
	ctx, g := w.Context(), w.archived(guildA, members)
	w.must(w.hydrator(&faults{}).Load(ctx, g))
	for _, lost := range [][2]int{{1, 2}, {2, 3}, {2, 5}, {4, 5}, {5, 5}} { // from the first to the second of a flush's batches
		name := fmt.Sprintf("batches %d to %d", lost[0], lost[1])
		w.addToAll(g, members)
		f := &faults{lost: func(c call) bool { return c.method == "WriteBatches" && c.n >= lost[0] && c.n <= lost[1] }}
		w.must(w.writer(name, never, f).Flush(ctx))
		w.killed(name)
		w.must(w.writer("next", never, &faults{}).Flush(ctx))
		w.killed("next")
		if w.inStep(g); t.Failed() {
			t.Fatal(name)
		}
	}
}

// Wherever it is cut off, and whether the writer continues or dies, the next one writes all of the guild, and what changed meanwhile.
func TestARewriteCutOffAnywhere(t *testing.T) {
	onServers(t, func(w *world) {
		const members = 105 // more than go with other guilds
		ctx, g, cases := w.Context(), w.guild(guildA), 0
		for i := range members {
			w.create(g, i, 100)
		}
		w.must(w.writer("ready", never, &faults{}).Flush(ctx))
		w.killed("ready")
		oneCase := func(name, method string, n int, after, dies bool) (fired bool) {
			cases++
			losing := &faults{lost: func(call) bool { return true }}
			for i := range members {
				w.add(g, i)
			}
			w.must(w.writer("losing", never, losing).Flush(ctx))
			w.killed("losing")
			f := &faults{}
			cut := func(_ context.Context, c call) error {
				if !fired && c.method == method && c.n == n {
					fired = true
					w.add(g, 3)
					return errBroken
				}
				if fired && dies {
					return errBroken
				}
				return nil
			}
			if f.before = cut; after {
				f.before, f.after = nil, cut
			}
			w.add(g, 0)
			if err := w.writer("first", never, f).Flush(ctx); err != nil && (!fired || !errors.Is(err, errBroken)) {
				t.Fatalf("%s: %v", name, err)
			}
			w.killed("first")
			w.add(g, 1)
			w.must(w.writer("second", never, &faults{}).Flush(ctx))
			w.killed("second")
			w.inStep(g)
			return fired
		}
		for _, method := range []string{"NoteUnsaved", "State", "NoteAllUnsaved", "Members", "LowerArchived", "ReadChanges", "WriteBatches", "EndChanges"} {
			for _, after := range []bool{false, true} {
				for _, dies := range []bool{false, true} {
					everyCall(t, func(n int) (name string, fired bool) {
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
	onBothStores(t, func(w *world) {
		ctx, g := w.Context(), w.guild(guildA)
		w.create(g, 1, 100)
		w.must(w.writer("first", never, &faults{}).Flush(ctx))
		w.killed("first")
		for _, method := range []string{"Survey", "States", "NoteUnsaved", "State"} {
			for _, after := range []bool{false, true} {
				var done atomic.Bool
				meanwhile := func(_ context.Context, c call) error {
					if c.method == method && done.CompareAndSwap(false, true) {
						w.add(g, 1)
						lease, err := w.archive.AcquireLease(ctx, "second", taken, false)
						w.must(err)
						c := w.readChanges(g)
						w.must(errors.Join(c.Err, snapshot.WriteBatch(ctx, w.archive, lease, c.Batch)))
						_, errs := w.live.EndChanges(ctx, []snapshot.Batch{c.Batch})
						w.must(errs[0])
					}
					return nil
				}
				f := &faults{before: meanwhile}
				if after {
					f = &faults{after: meanwhile}
				}
				w.must(w.writer("second", never, f).Flush(ctx))
				w.killed("second")
				w.wantRewritten(g, 0)
			}
		}
	})
}

// A Redis that restarts with all that it had is used at once, though the archive has lost something of the guild meanwhile; then that is
// written again, even if nothing changes.
func TestAnArchiveThatLostSomethingAndARestartedRedis(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g, f := w.Context(), w.guild(guildA), newForgetful()
	writer := w.writer("writer", never, &f.faults)
	w.create(g, 0, 100)
	w.create(g, 1, 100)
	w.must(writer.Flush(ctx))
	f.losing.Store(true)
	w.add(g, 1)
	w.must(writer.Flush(ctx))
	f.losing.Store(false)
	w.goBack(w.keep())
	w.wantXPs(g, 100, 101) // as a request loads it
	w.must(writer.Flush(ctx))
	w.wantRewritten(g, 1)
}

// A real archive is put back to an earlier state, as by a failover to a standby that lagged, under the writer.
func TestPostgresThatWentBack(t *testing.T) {
	url := testenv.Postgres(t)
	w := newWorld(t, testenv.Redis(t).URL(), postgresArchive(t, url))
	sql := func(statements ...string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), url)
		w.must(err)
		defer conn.Close(context.WithoutCancel(t.Context()))
		w.must(pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			for _, s := range statements {
				if _, err := tx.Exec(t.Context(), s); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	ctx, writer := t.Context(), w.writer("writer", never, &faults{})
	changed, quiet, untouched := w.guild("100000000000000001"), w.guild("100000000000000002"), w.guild("100000000000000003")
	guilds := []leaderboard.GuildRef{changed, quiet, untouched}
	for _, g := range guilds {
		for i := range 400 {
			w.create(g, i, 10)
		}
	}
	w.must(writer.Flush(ctx))
	sql(`CREATE TABLE kept_guilds AS SELECT id, epoch, archived FROM guilds`, `CREATE TABLE kept_members AS SELECT * FROM members`)
	for _, g := range guilds[:2] {
		for i := range 300 {
			w.add(g, i)
		}
		w.remove(g, 399)
	}
	w.must(writer.Flush(ctx))
	sql(`TRUNCATE members`, `INSERT INTO members SELECT * FROM kept_members`,
		`UPDATE guilds SET epoch = k.epoch, archived = k.archived FROM kept_guilds k WHERE guilds.id = k.id`)
	w.add(changed, 350)
	w.must(writer.Flush(ctx))
	w.allInStep(guilds)
	for _, g := range guilds {
		w.wantRewritten(g, 2)
	}
	if xps := w.xps(changed); xps[user(0)] != 11 || xps[user(350)] != 11 || xps[user(360)] != 10 || len(xps) != 399 {
		t.Errorf("XP %d, %d and %d of %d members", xps[user(0)], xps[user(350)], xps[user(360)], len(xps))
	}
}
