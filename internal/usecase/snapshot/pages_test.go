package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/storetest"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// smallGuilds creates guilds of three members each.
func (w *world) smallGuilds(count int) []leaderboard.GuildRef {
	w.Helper()
	guilds := make([]leaderboard.GuildRef, count)
	for i := range guilds {
		guilds[i] = w.guild(id.Guild(fmt.Sprintf("1%017d", i)))
		for n := range 3 {
			w.create(guilds[i], n, 100)
		}
	}
	return guilds
}

func (w *world) addAll(guilds []leaderboard.GuildRef, i int) {
	w.Helper()
	for _, g := range guilds {
		w.add(g, i)
	}
}

func (w *world) allInStep(guilds []leaderboard.GuildRef) {
	w.Helper()
	for _, g := range guilds {
		w.inStep(g)
	}
}

// nobodyWaitsUnseen fails the test if something of a guild waits for a snapshot that is not in the index of changed guilds.
func (w *world) nobodyWaitsUnseen(guilds []leaderboard.GuildRef) {
	w.Helper()
	indexed, err := w.redis.ZRange(w.Context(), "lb:changed-guilds", 0, -1).Result()
	w.must(err)
	for _, g := range guilds {
		if !w.nothingWaits(g) && !slices.Contains(indexed, string(g.ID)) {
			w.Errorf("guild %s has changes, and is not in the index", g.ID)
		}
	}
}

// Whatever step of a group fails, before its work, in its middle or when only the answers were lost, and whether the writer
// continues or is never heard of again: the next one brings the archive into step, with what changed meanwhile, and nothing is
// lost or written twice.
func TestAGroupCutOffAnywhereIsMadeGood(t *testing.T) {
	w := serverWorld(t)
	guilds := w.smallGuilds(6)
	w.must(w.writer("ready", never, &faults{}).Flush(w.Context()))
	w.killed("ready")
	cases, members := 0, 3
	oneCase := func(name, method string, n int, hook func(f *faults) *func(context.Context, call) error, dies bool) (fired bool) {
		cases++
		w.addAll(guilds, 0)
		for _, g := range guilds[2:4] { // what a writer before has left behind
			w.must(w.readChanges(g).Err)
			w.add(g, 2)
		}
		w.remove(guilds[5], members-1)
		w.create(guilds[5], members, 7)
		members++
		f := &faults{}
		meet := func(_ context.Context, c call) error {
			if c.method != method || c.n != n {
				return nil
			}
			fired = true
			w.addAll(guilds, 1) // while the group is under way
			return errBroken
		}
		*hook(f) = meet
		inner := f.before
		f.before = func(ctx context.Context, c call) error {
			if dies && fired {
				return errBroken
			}
			if c.method == "WriteBatches" && c.n == 1 {
				w.add(guilds[1], 1) // so that more of the guild waits
			}
			if inner != nil {
				return inner(ctx, c)
			}
			return nil
		}
		err := w.writer("first", never, f).Flush(w.Context())
		if err != nil && (!fired || !errors.Is(err, errBroken)) {
			t.Fatalf("%s: %v", name, err)
		}
		if !dies && method != "ChangedGuilds" && method != "LoadedGuilds" {
			w.nobodyWaitsUnseen(guilds)
		}
		w.killed("first")
		w.addAll(guilds[:3], 2)
		w.must(w.writer(name, never, &faults{}).Flush(w.Context()))
		w.killed(name)
		w.allInStep(guilds)
		return fired
	}
	hooks := map[string]func(f *faults) *func(context.Context, call) error{
		"before": func(f *faults) *func(context.Context, call) error { return &f.before },
		"torn":   func(f *faults) *func(context.Context, call) error { return &f.torn },
		"after":  func(f *faults) *func(context.Context, call) error { return &f.after },
	}
	for _, method := range []string{"ChangedGuilds", "LoadedGuilds", "ReadChanges", "WriteBatches", "EndChanges"} {
		for when, hook := range hooks {
			for _, dies := range []bool{false, true} {
				everyCall(t, func(n int) (name string, fired bool) {
					name = fmt.Sprintf("%s %d %s, dies: %v", method, n, when, dies)
					return name, oneCase(name, method, n, hook, dies)
				})
			}
		}
	}
	if least := 2 * (2*2*2 + 2*3*3); cases < least {
		t.Errorf("%d cases, want at least %d: some steps were not reached twice", cases, least)
	}
	// The archive holds what Redis held, also to a Redis that knows nothing.
	g, before := guilds[3], w.liveRows(guilds[3])
	w.must(w.live.Drop(w.Context(), g))
	w.must(w.hydrator(&faults{}).Load(w.Context(), g))
	if after := w.liveRows(g); len(after) != 3 || after[0].XP != before[0].XP || after[1].XP != before[1].XP || after[2].XP != before[2].XP {
		t.Errorf("members %+v after a load, before it %+v", after, before)
	}
}

// A group is committed and only the answer is lost: when its guilds are then tried one by one, the archive holds their batches, and that is not
// taken for what the live store does not know of. A member that was deleted meanwhile stays so.
func TestAGroupWhoseCommitWasNotAnswered(t *testing.T) {
	onBothStores(t, func(w *world) {
		guilds := w.smallGuilds(3)
		f := &faults{}
		f.after = func(_ context.Context, c call) error {
			if c.method != "WriteBatches" || c.n != 1 {
				return nil
			}
			w.remove(guilds[0], 2)
			return errBroken
		}
		writer := w.writer("writer", never, f)
		w.must(writer.Flush(w.Context()))
		w.must(writer.Flush(w.Context()))
		if n := f.count("Distrust"); n > 0 {
			w.Errorf("%d guilds were taken for older than the archive", n)
		}
		if rows := w.liveRows(guilds[0]); len(rows) != 2 {
			w.Errorf("%d members, want 2: one was deleted", len(rows))
		}
		w.allInStep(guilds)
	})
}

// Guilds that do not fit the archive any more, at whatever step that happens, are left out of their group, and the others are
// written with it.
func TestOfAGroupOnlyWhatDoesNotFitIsLeftOut(t *testing.T) {
	onBothStores(t, func(w *world) {
		ctx := w.Context()
		guilds := w.smallGuilds(8)
		w.must(w.writer("ready", never, &faults{}).Flush(ctx))
		w.killed("ready")
		for round, method := range []string{"ReadChanges", "WriteBatches", "EndChanges"} {
			w.addAll(guilds, 0)
			var deleted, recreated leaderboard.GuildRef
			f := &faults{}
			f.before = func(_ context.Context, c call) error {
				if c.method != method || c.n != 1 {
					return nil
				}
				// One is made again, one was loaded again by somebody else, one has a batch that Redis does not know of, and one leaves.
				deleted = guilds[1]
				_, err := w.archive.DeleteGuild(ctx, deleted.ID)
				w.must(err)
				recreated = leaderboard.Ref(storetest.PutGuild(w.T, w.archive, deleted.ID))
				_, err = w.archive.RaiseEpoch(ctx, guilds[3], w.state(guilds[3]), 0)
				w.must(err)
				lease, err := w.archive.AcquireLease(ctx, "writer", taken, false)
				w.must(err)
				s := w.state(guilds[5])
				w.must(snapshot.WriteBatch(ctx, w.archive, lease, snapshot.Batch{Guild: guilds[5], Epoch: s.Epoch, Rev: s.Archived + 50, Known: s.Archived}))
				w.must(w.live.Drop(ctx, guilds[6]))
				return nil
			}
			writer := w.writer("writer", never, f)
			w.must(writer.Flush(ctx))
			if n := f.count("WriteBatches"); n != 1 {
				w.Errorf("%s: %d transactions for the group, want 1", method, n)
			}
			for _, i := range []int{0, 2, 4, 7} {
				w.inStep(guilds[i])
			}
			if rows := w.archivedRows(recreated); len(rows) > 0 {
				w.Errorf("%s: the new incarnation has %+v of the one before", method, rows)
			}
			for _, g := range []leaderboard.GuildRef{recreated, guilds[6]} {
				w.must(w.hydrator(&faults{}).Load(ctx, g))
			}
			guilds[1] = recreated
			for n := range 3 {
				w.create(recreated, n, 100)
			}
			w.addAll(guilds, 1) // what came after a guild's own batch is found with the next one
			w.must(writer.Flush(ctx))
			w.allInStep(guilds)
			for _, i := range []int{3, 5} {
				if xp := w.liveRows(guilds[i])[0].XP; int(xp) != 101+round {
					w.Errorf("%s: guild %d: %d XP, want %d", method, i, xp, 101+round)
				}
			}
			w.must(writer.Release(ctx))
			if w.Failed() {
				w.Fatal(method)
			}
		}
	})
}

// A writer whose lease passed on writes nothing of any guild of its group.
func TestAGroupWithoutTheLeaseIsNotWritten(t *testing.T) {
	onBothStores(t, func(w *world) {
		guilds := w.smallGuilds(4)
		f := &faults{before: func(_ context.Context, c call) error {
			if c.method == "WriteBatches" && c.n == 1 {
				w.killed("first")
				_, err := w.archive.AcquireLease(w.Context(), "second", taken, false)
				w.must(err)
			}
			return nil
		}}
		ended := make(chan error, 1)
		go func() { ended <- w.writer("first", never, f).Flush(w.Context()) }()
		w.eventually("it waits for the other one", func() bool { return f.count("AcquireLease") > 2 })
		_, err := w.archive.AcquireLease(w.Context(), "second", taken-time.Second, false)
		w.must(err)
		w.must(<-ended)
		for _, g := range guilds {
			if rows := w.archivedRows(g); len(rows) > 0 || w.state(g).Archived != 0 {
				w.Errorf("archived %+v", rows)
			}
		}
		w.nobodyWaitsUnseen(guilds)
		w.must(w.writer("second", never, &faults{}).Flush(w.Context()))
		w.allInStep(guilds)
	})
}

// A row that the archive refuses by itself does not keep the guilds of its group from being written.
func TestABadRowInAGroup(t *testing.T) {
	onBothStores(t, func(w *world) {
		ctx, guilds := w.Context(), w.smallGuilds(5)
		bad := guilds[2].ID
		f := &faults{before: func(_ context.Context, c call) error {
			if c.method == "WriteBatches" && slices.Contains(c.guilds, bad) && (len(c.guilds) > 1 || c.rows == 3) {
				return fmt.Errorf("odd: %w", snapshot.ErrBadRow)
			}
			return nil
		}}
		// One more is known to be bad before anybody asks the archive.
		w.must(w.redis.ZAdd(ctx, "lb:{"+string(guilds[3].ID)+"}:dirty", redis.Z{Score: 1, Member: "junk"}).Err())
		w.must(w.writer("writer", never, f).Flush(ctx))
		w.allInStep(guilds)
		if n := w.logged.count("passed over"); n != 1 {
			w.Errorf("%d lines about bad members, want 1:\n%s", n, w.logged)
		}
	})
}

// When the archive takes nothing, a group of guilds costs a few attempts and a line in the log, and all of them wait.
func TestAnArchiveThatTakesNothing(t *testing.T) {
	w := embeddedWorld(t)
	guilds := w.smallGuilds(50)
	broken := true
	f := &faults{before: func(_ context.Context, c call) error {
		if broken && c.method == "WriteBatches" {
			return errBroken
		}
		return nil
	}}
	writer := w.writer("writer", never, f)
	before := w.values(writer)["snapshot_failures_total"]
	for range 2 {
		if err := writer.Flush(w.Context()); !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
	}
	if n := w.values(writer)["snapshot_failures_total"] - before; n != 100 {
		t.Errorf("%g failures were counted, want 50 in each round", n)
	}
	if n := f.count("WriteBatches"); n > 2*3 {
		t.Errorf("%d transactions, want one of all and two of single guilds in each round", n)
	}
	if n := w.logged.count("could not be written"); n < 1 || n > 4 {
		t.Errorf("%d lines, want a few\n%s", n, w.logged)
	}
	w.nobodyWaitsUnseen(guilds)
	broken = false
	w.must(writer.Flush(w.Context()))
	w.allInStep(guilds)
}

// Of guilds of which much has changed a page is written with the others and the rest by itself, and transactions are bounded whatever
// the guilds' sizes.
func TestTransactionsAreBounded(t *testing.T) {
	w := serverWorld(t)
	var guilds []leaderboard.GuildRef
	for i := range 40 {
		g := w.guild(id.Guild(fmt.Sprintf("1%017d", i)))
		guilds = append(guilds, g)
		size := 60
		if i == 17 {
			size = 2200
		}
		for n := range size {
			w.create(g, n, 1)
		}
	}
	var largest, rows, alone int
	f := &faults{before: func(_ context.Context, c call) error {
		if c.method == "WriteBatches" {
			largest, rows = max(largest, c.rows), rows+c.rows
			if len(c.guilds) == 1 {
				alone++
			}
		}
		return nil
	}}
	w.must(w.writer("writer", never, f).Flush(w.Context()))
	if n := f.count("WriteBatches"); n > 7 || alone > 4 || largest > 1000 || rows != 39*60+2200 {
		t.Errorf("%d transactions, %d of one guild, at most %d rows, %d in all; want 7, 4, 1000, %d", n, alone, largest, rows, 39*60+2200)
	}
	w.allInStep(guilds)
}

// More guilds than one group takes, changed again and again while the writer runs.
func TestManyGuildsWhileTheyChange(t *testing.T) {
	w := serverWorld(t)
	guilds := w.smallGuilds(250)
	stop := w.running(w.writer("writer", 100*time.Millisecond, &faults{}))
	for i := range 3 {
		w.addAll(guilds, i)
	}
	w.eventually("all is archived", func() bool {
		b, err := w.live.Backlog(w.Context(), nil, nil)
		w.must(err)
		return b.Members == 0 && w.state(guilds[0]).Archived == 6
	})
	stop()
	w.must(w.writer("writer", never, &faults{}).Flush(w.Context()))
	w.allInStep(guilds)
}

// A guild of which something changes whenever it is written, however large it is, is written as far as it had changed when its round
// began: it holds up nobody, and neither does a member that changes all the time wait for longer than the others.
func TestAGuildThatNeverRests(t *testing.T) {
	onServers(t, func(w *world) {
		const size = 1500
		guilds := w.smallGuilds(2)
		for n := 3; n < size; n++ {
			w.create(guilds[0], n, 100)
		}
		w.must(w.writer("ready", never, &faults{}).Flush(w.Context()))
		w.killed("ready")
		w.addToAll(guilds[0], size)
		w.add(guilds[1], 1)
		f := &faults{before: func(_ context.Context, c call) error {
			if c.method == "ReadChanges" || c.method == "WriteBatches" || c.method == "EndChanges" {
				for _, n := range []int{0, size / 2, size - 1} {
					w.add(guilds[0], n)
				}
			}
			return nil
		}}
		w.must(w.writer("writer", never, f).Flush(w.Context()))
		if n := f.count("WriteBatches"); n > 5 {
			w.Errorf("%d transactions, want few", n)
		}
		for i, row := range w.archivedRows(guilds[0]) {
			if row.XP < 101 {
				w.Fatalf("member %d is archived with %d XP, not with what it had when the round began", i, row.XP)
			}
		}
		w.inStep(guilds[1])
		w.killed("writer")
		w.nobodyWaitsUnseen(guilds)
		w.must(w.writer("next", never, &faults{}).Flush(w.Context()))
		w.allInStep(guilds)
	})
}

// After a restart of Redis guilds are compared with the archive together, and archived with their group in the same round: but for one that
// was deleted meanwhile, which leaves, and with one that Redis is the older one of, which is loaded again.
func TestAGroupThatIsToBeVerifiedIsArchivedAtOnce(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, guilds := w.Context(), w.smallGuilds(40)
	w.must(w.writer("ready", never, &faults{}).Flush(ctx))
	w.killed("ready")
	w.addAll(guilds, 0)
	const deleted, older = 3, 5
	_, err := w.archive.DeleteGuild(ctx, guilds[deleted].ID)
	w.must(err)
	lease, err := w.archive.AcquireLease(ctx, "other", taken, false)
	w.must(err)
	s, row := w.state(guilds[older]), w.liveRows(guilds[older])[1]
	row.XP = 500
	w.must(snapshot.WriteBatch(ctx, w.archive, lease, snapshot.Batch{
		Guild: guilds[older], Epoch: s.Epoch, Rev: s.Archived + 50, Known: s.Archived, Rows: []snapshot.Row{row},
	}))
	w.killed("other")
	w.goBack(w.keep())

	f := &faults{before: func(_ context.Context, c call) error {
		if c.method == "ReadChanges" && len(c.guilds) == 1 {
			t.Errorf("guild %s goes by itself", c.guild)
		}
		return nil
	}}
	w.must(w.writer("writer", never, f).Flush(ctx))
	if n := f.count("WriteBatches"); n != 1 {
		t.Errorf("%d transactions, want 1", n)
	}
	for i, g := range guilds {
		if i != deleted {
			w.inStep(g)
		}
	}
	if keys := w.redis.Keys(ctx, "lb:{"+string(guilds[deleted].ID)+"}:*").Val(); len(keys) > 0 {
		t.Errorf("of the deleted guild %v is left", keys)
	}
	w.wantXPs(guilds[older], 101, 500, 100)
	if n := w.logged.count("Redis has gone back in time"); n != 1 {
		t.Errorf("%d lines about a Redis that has gone back, want 1:\n%s", n, w.logged)
	}
}

// A guild that cannot be compared with the archive waits, with an error, and keeps none of its group from being archived.
func TestAGuildOfAGroupThatCannotBeVerified(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, guilds := w.Context(), w.smallGuilds(20)
	w.goBack(w.keep())
	f := &faults{before: func(_ context.Context, c call) error {
		if c.method == "RaiseEpoch" && c.guild == guilds[4].ID {
			return errBroken
		}
		return nil
	}}
	if err := w.writer("writer", never, f).Flush(ctx); !errors.Is(err, errBroken) {
		t.Errorf("flush: %v", err)
	}
	w.allInStep(append(guilds[:4:4], guilds[5:]...))
	w.killed("writer")
	w.nobodyWaitsUnseen(guilds)
	w.must(w.writer("next", never, &faults{}).Flush(ctx))
	w.allInStep(guilds)
}
