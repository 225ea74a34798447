package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/storetest"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// atOnce is an idle time after which a guild is cold as soon as the writer sees it.
const atOnce = time.Millisecond

// evictor returns a writer that sweeps many times a second, and lets guilds leave that nobody used for so long.
func (w *world) evictor(holder string, idle time.Duration, f *faults) *snapshot.Writer {
	return snapshot.NewWriter(faultyLive{w.live, f}, faultyArchive{w.archive, f}, w.hydrator(f),
		snapshot.WriterOptions{Holder: holder, Interval: 4 * time.Millisecond, Idle: idle, Log: w.log()})
}

func (w *world) loaded(g leaderboard.GuildRef) bool {
	w.Helper()
	_, err := w.live.Version(w.Context(), g)
	if err != nil && !errors.Is(err, leaderboard.ErrNotLoaded) {
		w.Fatal(err)
	}
	return err == nil
}

// aged makes a guild one that nobody has used for two hours.
func (w *world) aged(g leaderboard.GuildRef) {
	w.Helper()
	w.must(w.redis.HSet(w.Context(), "lb:{"+string(g.ID)+"}:meta", "used", time.Now().Add(-2*time.Hour).UnixMilli()).Err())
}

func TestAGuildThatNobodyUsesLeavesAndComesBack(t *testing.T) {
	onBothStores(t, func(w *world) {
		const members = 1500
		g, used := w.guild(guildA), w.guild("100000000000000002")
		for i := range members {
			w.create(g, i, level.XP(i))
		}
		w.change(g, 7, leaderboard.Change{Op: leaderboard.Set, Amount: 5, Cooldown: time.Hour})
		w.create(used, 1, 1)
		w.must(w.writer("first", never, &faults{}).Flush(w.Context()))
		before := w.liveRows(g)
		w.killed("first")
		w.aged(g)

		writer := w.evictor("second", time.Hour, &faults{})
		evicted := w.values(writer)["guilds_evicted_total"]
		stop := w.running(writer)
		w.eventually("the guild leaves", func() bool { return !w.loaded(g) })
		w.eventually("the log says so", func() bool { return w.logged.count("have left Redis") == 1 })
		if got := w.values(writer); got["guilds_evicted_total"] != evicted+1 || got["guilds_loaded"] != 1 {
			t.Errorf("one guild has left and one has not; the metrics are %v", got)
		}
		stop()
		for _, name := range []string{"meta", "xp", "entry", "dirty"} {
			if n := w.redis.Exists(w.Context(), "lb:{"+string(g.ID)+"}:"+name).Val(); n != 0 {
				t.Errorf("%s is still there", name)
			}
		}
		if !w.loaded(used) {
			t.Error("a guild in use has left")
		}

		w.must(w.hydrator(&faults{}).Load(w.Context(), g))
		if after := w.liveRows(g); !reflect.DeepEqual(before, after) {
			t.Error("the guild did not come back as it was")
		}
		w.inStep(g)
	})
}

// Whatever keeps a change from the archive keeps its guild in Redis.
func TestUnsavedChangesKeepAGuild(t *testing.T) {
	onBothStores(t, func(w *world) {
		g := w.guild(guildA)
		w.create(g, 1, 100)
		for _, method := range []string{"ReadChanges", "WriteBatches", "EndChanges"} {
			var broken atomic.Bool
			broken.Store(true)
			f := &faults{before: func(_ context.Context, c call) error {
				if broken.Load() && c.method == method {
					return errBroken
				}
				return nil
			}}
			w.add(g, 1)
			stop := w.running(w.evictor(method, atOnce, f))
			w.eventually("some sweeps", func() bool { return f.count("Survey") > 3 })
			if !w.loaded(g) {
				t.Errorf("the guild has left, without %s", method)
			}
			broken.Store(false)
			w.eventually("the guild leaves", func() bool { return !w.loaded(g) })
			stop()
			w.killed(method)
			w.must(w.hydrator(&faults{}).Load(w.Context(), g))
			w.inStep(g)
		}
		if rows := w.liveRows(g); len(rows) != 1 || rows[0].XP != 103 {
			t.Errorf("rows %+v, want 103 XP", rows)
		}
	})
}

// When the archive cannot be asked what it holds, or holds something else than Redis says, the guild stays.
func TestAGuildStaysUnlessTheArchiveHasIt(t *testing.T) {
	onBothStores(t, func(w *world) {
		g := w.guild(guildA)
		w.create(g, 1, 100)
		w.must(w.writer("first", never, &faults{}).Flush(w.Context()))
		w.killed("first")

		f := &faults{before: func(_ context.Context, c call) error {
			if c.method == "State" {
				return errBroken
			}
			return nil
		}}
		stop := w.running(w.evictor("second", atOnce, f))
		w.eventually("some sweeps", func() bool { return f.count("Survey") > 3 })
		stop()
		w.killed("second")
		if n := f.count("Evict"); n > 0 || !w.loaded(g) || w.logged.count("could not leave Redis") == 0 {
			t.Errorf("%d guilds were evicted while the archive was away", n)
		}

		// An archive that was restored from an older backup, and what it lost cannot be written to it again yet.
		meta := "lb:{" + string(g.ID) + "}:meta"
		w.must(w.redis.HSet(w.Context(), meta, "rev", 9, "archived", 9).Err())
		f = &faults{before: func(_ context.Context, c call) error {
			if c.method == "LowerArchived" {
				return errBroken
			}
			return nil
		}}
		stop = w.running(w.evictor("third", atOnce, f))
		w.eventually("some sweeps", func() bool { return f.count("Survey") > 3 && f.count("State") > 3 })
		stop()
		w.killed("third")
		if n := f.count("Evict"); n > 0 || !w.loaded(g) {
			t.Errorf("%d guilds were evicted that the archive does not have", n)
		}
		stop = w.running(w.evictor("fourth", atOnce, &faults{}))
		w.eventually("it leaves once it was written", func() bool { return !w.loaded(g) })
		stop()
		if s := w.state(g); s.Archived < 9 {
			t.Errorf("it has left with %+v in the archive, want rev 9 or later", s)
		}
	})
}

// A writer that dies before or after any of its steps leaves a guild that is as it was, or is gone and can be loaded.
func TestAnEvictionCutOffAnywhere(t *testing.T) {
	onServers(t, func(w *world) {
		g := w.guild(guildA)
		for i := range 20 {
			w.create(g, i, 100)
		}
		for _, method := range []string{"LoadedGuilds", "Survey", "State", "Evict", "Purge"} {
			for _, after := range []bool{false, true} {
				name := fmt.Sprintf("%s, after the work: %v", method, after)
				w.change(g, 3, leaderboard.Change{Op: leaderboard.Increment, Amount: 7, Cooldown: time.Hour})
				w.must(w.writer("before "+name, never, &faults{}).Flush(w.Context()))
				w.killed("before " + name)
				before := w.liveRows(g)
				dead, cancel := context.WithCancelCause(w.Context())
				die := func(_ context.Context, c call) error {
					if c.method == method {
						cancel(errBroken)
					}
					return context.Cause(dead) // it does nothing any more
				}
				f := &faults{before: die}
				if after {
					f = &faults{after: die}
				}
				stop := w.running(w.evictor(name, atOnce, f))
				w.eventually(name, func() bool { return dead.Err() != nil })
				stop()
				w.killed(name)
				w.must(w.hydrator(&faults{}).Load(w.Context(), g))
				if now := w.liveRows(g); !reflect.DeepEqual(before, now) {
					t.Fatalf("%s: the guild is not as it was", name)
				}
				w.inStep(g)
			}
		}
	})
}

// Requests come at the moment at which their guild leaves, again and again: each is made once, and none fails.
func TestRequestsWhileTheirGuildLeaves(t *testing.T) {
	onServers(t, func(w *world) {
		const members, times, most = 8, 10, 500
		settings := storetest.PutGuild(t, w.archive, guildA)
		g := leaderboard.Ref(settings)
		leaving := make(chan struct{}, 1)
		tell := func(_ context.Context, c call) error {
			if c.method == "Evict" {
				select {
				case leaving <- struct{}{}:
				default:
				}
			}
			return nil
		}
		loads := &faults{}
		board := leaderboard.New(w.live, w.hydrator(loads), nil, leaderboard.Options{})
		for i := range members {
			_, err := board.Create(w.Context(), settings, user(i), leaderboard.Creation{})
			w.must(err)
		}
		stop := w.running(w.evictor("writer", atOnce, &faults{before: tell}))
		defer stop()

		var given [members]level.XP
		for round := 0; loads.count("CommitHydration") < times; round++ {
			if round == most {
				t.Fatalf("in %d rounds the guild has left %d times", most, loads.count("CommitHydration"))
			}
			select {
			case <-leaving:
			case <-time.After(30 * time.Second):
				t.Fatalf("the guild stays, in round %d\n%s", round, w.logged)
			}
			var all sync.WaitGroup
			for i := range members {
				all.Go(func() {
					for n := range 1 + (round+i)%4 {
						w.award(board, settings, i, fmt.Append(nil, round, i, n), &given[i])
					}
				})
			}
			all.Wait()
		}
		stop()
		w.killed("writer")
		w.must(w.hydrator(&faults{}).Load(w.Context(), g))
		w.must(w.writer("last", never, &faults{}).Flush(w.Context()))
		w.inStep(g)
		for i := range members {
			m, err := w.live.Member(w.Context(), g, user(i))
			if err != nil || m.XP != given[i] {
				t.Errorf("member %d has %d XP, %v; was given %d", i, m.XP, err, given[i])
			}
		}
	})
}

// award gives a member 7 XP, twice by the same name: as a client that did not hear the first answer.
func (w *world) award(board *leaderboard.Leaderboard, g *guild.Guild, i int, name []byte, given *level.XP) {
	w.Helper()
	c := leaderboard.Change{Op: leaderboard.Increment, Amount: 7, Once: leaderboard.Once{
		Key: leaderboard.DigestOf(name), Request: leaderboard.DigestOf(name),
	}}
	*given += c.Amount
	want := leaderboard.Outcome{Before: *given - c.Amount, After: *given}
	for range 2 {
		if out, err := board.Change(w.Context(), g, user(i), c); err != nil || out != want {
			w.Errorf("member %d: %+v, %v, want %+v", i, out, err, want)
		}
		want.Replayed = true
	}
}

// A guild that was deleted is not evicted but dropped, with its events.
func TestADeletedGuildIsNotEvicted(t *testing.T) {
	w := embeddedWorld(t)
	g := w.guild(guildA)
	_, err := w.archive.DeleteGuild(w.Context(), g.ID)
	w.must(err)
	f := &faults{}
	stop := w.running(w.evictor("writer", atOnce, f))
	w.eventually("the guild is dropped", func() bool { return len(w.redis.Keys(w.Context(), "lb:{*").Val()) == 0 })
	stop()
	if n := f.count("Evict"); n > 0 {
		t.Errorf("%d guilds were evicted", n)
	}
}
