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
	"levelboard/internal/testing/stores"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// atOnce is an idle time after which a guild is cold at once.
const atOnce = time.Millisecond

// evictor returns a writer that sweeps many times a second and evicts guilds after this idle time.
func evictor(w *stores.World, holder string, idle time.Duration, f *stores.Faults) *snapshot.Writer {
	live, archive := w.Through(f)
	return snapshot.NewWriter(live, archive, w.Hydrator(f),
		snapshot.WriterOptions{Holder: holder, Interval: 4 * time.Millisecond, Idle: idle, Log: w.Logger()})
}

func loaded(w *stores.World, g leaderboard.GuildRef) bool {
	w.Helper()
	_, err := w.Live.Version(w.Context(), g)
	if err != nil && !errors.Is(err, leaderboard.ErrNotLoaded) {
		w.Fatal(err)
	}
	return err == nil
}

// aged sets a guild's last use to two hours ago.
func aged(w *stores.World, g leaderboard.GuildRef) {
	w.Helper()
	w.Must(w.Redis.HSet(w.Context(), "lb:{"+string(g.ID)+"}:meta", "used", time.Now().Add(-2*time.Hour).UnixMilli()).Err())
}

func TestAnUnusedGuildIsEvictedAndLoadedAgain(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		const members = 1500
		g, used := w.Guild(stores.GuildA), w.Guild("100000000000000002")
		for i := range members {
			w.Create(g, i, level.XP(i))
		}
		w.Change(g, 7, leaderboard.Change{Op: leaderboard.Set, Amount: 5, Cooldown: time.Hour})
		w.Create(used, 1, 1)
		w.Must(w.Writer("first", stores.Never, &stores.Faults{}).Flush(w.Context()))
		before := w.LiveRows(g)
		w.Killed("first")
		aged(w, g)

		writer := evictor(w, "second", time.Hour, &stores.Faults{})
		evicted := values(w, writer)["guilds_evicted_total"]
		stop := w.Running(writer)
		w.Eventually("the guild leaves", func() bool { return !loaded(w, g) })
		w.Eventually("the log says so", func() bool { return w.Logged.Count("were evicted from Redis") == 1 })
		if got := values(w, writer); got["guilds_evicted_total"] != evicted+1 || got["guilds_loaded"] != 1 {
			t.Errorf("the metrics are %v, want one more guild evicted and one loaded", got)
		}
		stop()
		for _, name := range []string{"meta", "xp", "entry", "dirty"} {
			if n := w.Redis.Exists(w.Context(), "lb:{"+string(g.ID)+"}:"+name).Val(); n != 0 {
				t.Errorf("Redis still has the guild's %s", name)
			}
		}
		if !loaded(w, used) {
			t.Error("a guild in use was evicted")
		}

		w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
		if after := w.LiveRows(g); !reflect.DeepEqual(before, after) {
			t.Error("the loaded guild differs from the evicted one")
		}
		w.InStep(g)
	})
}

// A guild with a change that cannot be archived stays in Redis.
func TestUnsavedChangesKeepAGuild(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		g := w.Guild(stores.GuildA)
		w.Create(g, 1, 100)
		for _, method := range []string{"ReadChanges", "WriteBatches", "EndChanges"} {
			var broken atomic.Bool
			broken.Store(true)
			f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
				if broken.Load() && c.Method == method {
					return stores.ErrBroken
				}
				return nil
			}}
			w.Add(g, 1)
			stop := w.Running(evictor(w, method, atOnce, f))
			w.Eventually("some sweeps", func() bool { return f.Count("Survey") > 3 })
			if !loaded(w, g) {
				t.Errorf("the guild was evicted, though %s failed", method)
			}
			broken.Store(false)
			w.Eventually("the guild leaves", func() bool { return !loaded(w, g) })
			stop()
			w.Killed(method)
			w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
			w.InStep(g)
		}
		if rows := w.LiveRows(g); len(rows) != 1 || rows[0].XP != 103 {
			t.Errorf("the rows are %+v, want 103 XP", rows)
		}
	})
}

// The guild stays when the archive does not answer, or has another rev than Redis expects.
func TestAGuildStaysUnlessTheArchiveHasIt(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		g := w.Guild(stores.GuildA)
		w.Create(g, 1, 100)
		w.Must(w.Writer("first", stores.Never, &stores.Faults{}).Flush(w.Context()))
		w.Killed("first")

		f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
			if c.Method == "State" {
				return stores.ErrBroken
			}
			return nil
		}}
		stop := w.Running(evictor(w, "second", atOnce, f))
		w.Eventually("some sweeps", func() bool { return f.Count("Survey") > 3 })
		stop()
		w.Killed("second")
		if n := f.Count("Evict"); n > 0 || !loaded(w, g) || w.Logged.Count("could not be evicted from Redis") == 0 {
			t.Errorf("while the archive did not answer, %d guilds were evicted, or the log does not say why they stay", n)
		}

		// The archive was restored from an older backup, and the rows that it lost cannot be written yet.
		meta := "lb:{" + string(g.ID) + "}:meta"
		w.Must(w.Redis.HSet(w.Context(), meta, "rev", 9, "archived", 9).Err())
		f = &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
			if c.Method == "LowerArchived" {
				return stores.ErrBroken
			}
			return nil
		}}
		stop = w.Running(evictor(w, "third", atOnce, f))
		w.Eventually("some sweeps", func() bool { return f.Count("Survey") > 3 && f.Count("State") > 3 })
		stop()
		w.Killed("third")
		if n := f.Count("Evict"); n > 0 || !loaded(w, g) {
			t.Errorf("%d guilds were evicted that the archive lacks", n)
		}
		stop = w.Running(evictor(w, "fourth", atOnce, &stores.Faults{}))
		w.Eventually("it leaves once it was written", func() bool { return !loaded(w, g) })
		stop()
		if s := w.State(g); s.Archived < 9 {
			t.Errorf("the guild was evicted with %+v in the archive, want rev 9 or later", s)
		}
	})
}

// A writer that dies before or after any step leaves the guild whole in Redis, or evicted and ready to be loaded.
func TestAnInterruptedEvictionLosesNothing(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		g := w.Guild(stores.GuildA)
		for i := range 20 {
			w.Create(g, i, 100)
		}
		for _, method := range []string{"LoadedGuilds", "Survey", "State", "Evict", "Purge"} {
			for _, after := range []bool{false, true} {
				name := fmt.Sprintf("%s, after the work: %v", method, after)
				w.Change(g, 3, leaderboard.Change{Op: leaderboard.Increment, Amount: 7, Cooldown: time.Hour})
				w.Must(w.Writer("before "+name, stores.Never, &stores.Faults{}).Flush(w.Context()))
				w.Killed("before " + name)
				before := w.LiveRows(g)
				dead, cancel := context.WithCancelCause(w.Context())
				die := func(_ context.Context, c stores.Call) error {
					if c.Method == method {
						cancel(stores.ErrBroken)
					}
					return context.Cause(dead) // the dead writer does nothing more
				}
				f := &stores.Faults{Before: die}
				if after {
					f = &stores.Faults{After: die}
				}
				stop := w.Running(evictor(w, name, atOnce, f))
				w.Eventually(name, func() bool { return dead.Err() != nil })
				stop()
				w.Killed(name)
				w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
				if now := w.LiveRows(g); !reflect.DeepEqual(before, now) {
					t.Fatalf("%s: the guild's rows changed", name)
				}
				w.InStep(g)
			}
		}
	})
}

// Requests race with the eviction of their guild many times. Each is made once, and none fails.
func TestRequestsDuringEvictionsAreMadeOnce(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		const members, times, most = 8, 10, 500
		settings := storetest.PutGuild(t, w.Archive, stores.GuildA)
		g := leaderboard.Ref(settings)
		leaving := make(chan struct{}, 1)
		tell := func(_ context.Context, c stores.Call) error {
			if c.Method == "Evict" {
				select {
				case leaving <- struct{}{}:
				default:
				}
			}
			return nil
		}
		loads := &stores.Faults{}
		board := leaderboard.New(w.Live, w.Hydrator(loads), nil, leaderboard.Options{})
		for i := range members {
			_, err := board.Create(w.Context(), settings, stores.User(i), leaderboard.Creation{})
			w.Must(err)
		}
		stop := w.Running(evictor(w, "writer", atOnce, &stores.Faults{Before: tell}))
		defer stop()

		var given [members]level.XP
		for round := 0; loads.Count("CommitHydration") < times; round++ {
			if round == most {
				t.Fatalf("in %d rounds the guild was loaded only %d times", most, loads.Count("CommitHydration"))
			}
			testenv.Receive(t, leaving, fmt.Sprintf("the guild leaves in round %d", round), w.Logged.String)
			var all sync.WaitGroup
			for i := range members {
				all.Go(func() {
					for n := range 1 + (round+i)%4 {
						award(w, board, settings, i, fmt.Append(nil, round, i, n), &given[i])
					}
				})
			}
			all.Wait()
		}
		stop()
		w.Killed("writer")
		w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
		w.Must(w.Writer("last", stores.Never, &stores.Faults{}).Flush(w.Context()))
		w.InStep(g)
		for i := range members {
			m, err := w.Live.Member(w.Context(), g, stores.User(i))
			if err != nil || m.XP != given[i] {
				t.Errorf("member %d has %d XP (%v), want the %d given", i, m.XP, err, given[i])
			}
		}
	})
}

// award gives a member 7 XP, twice under the same name, as a client that did not get the first answer.
func award(w *stores.World, board *leaderboard.Leaderboard, g *guild.Guild, i int, name []byte, given *level.XP) {
	w.Helper()
	c := leaderboard.Change{Op: leaderboard.Increment, Amount: 7, Once: leaderboard.Once{
		Key: leaderboard.DigestOf(name), Request: leaderboard.DigestOf(name),
	}}
	*given += c.Amount
	want := leaderboard.Outcome{Before: *given - c.Amount, After: *given}
	for range 2 {
		if out, err := board.Change(w.Context(), g, stores.User(i), c); err != nil || out != want {
			w.Errorf("member %d: the outcome is %+v (%v), want %+v", i, out, err, want)
		}
		want.Replayed = true
	}
}

// A guild that was deleted is not evicted but dropped, with its events.
func TestADeletedGuildIsNotEvicted(t *testing.T) {
	w := stores.Embedded(t)
	g := w.Guild(stores.GuildA)
	_, err := w.Archive.DeleteGuild(w.Context(), g.ID)
	w.Must(err)
	f := &stores.Faults{}
	stop := w.Running(evictor(w, "writer", atOnce, f))
	w.Eventually("the guild is dropped", func() bool { return len(w.Redis.Keys(w.Context(), "lb:{*").Val()) == 0 })
	stop()
	if n := f.Count("Evict"); n > 0 {
		t.Errorf("%d deleted guilds were evicted, want them dropped", n)
	}
}
