package hydrate_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func TestHydrationLoadsTheArchivedMembers(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		const members = 2000 // a whole number of chunks
		g := w.Archived(stores.GuildA, members)
		// A tombstone among the rows is not a member.
		lease, err := w.Archive.AcquireLease(w.Context(), "writer", stores.Taken, false)
		w.Must(err)
		s := w.State(g)
		gone := snapshot.Row{Member: leaderboard.Member{UserID: stores.User(5)}, Deleted: true}
		w.Must(snapshot.WriteBatch(w.Context(), w.Archive, lease, snapshot.Batch{Guild: g, Epoch: s.Epoch, Rev: s.Archived + 1, Known: s.Archived, Rows: []snapshot.Row{gone}}))

		w.NotLoaded(g)
		w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
		if rows := w.LiveRows(g); len(rows) != members-1 || rows[3].CooldownUntil.IsZero() || rows[3].User.Avatar == nil || *rows[3].User.GlobalName != "" {
			t.Errorf("%d members were loaded, with %+v, want %d with their cooldown and user data", len(rows), rows[3], members-1)
		}
		w.InStep(g)
		w.NoTraces(g)
		p, err := w.Live.Page(w.Context(), g, 0, members)
		w.Must(err)
		for i, row := range p.Rows {
			if row.Rank != int64(i+1) || (i > 0 && row.XP > p.Rows[i-1].XP) {
				t.Fatalf("row %d has rank %d and %d XP after %d", i, row.Rank, row.XP, p.Rows[max(i-1, 0)].XP)
			}
		}
		if want := (leaderboard.Version{Epoch: s.Epoch + 1, Rev: s.Archived + 1}); p.Version != want {
			t.Errorf("the version is %+v, want %+v", p.Version, want)
		}
	})
}

func TestAnEmptyGuildIsLoaded(t *testing.T) {
	w := stores.Embedded(t)
	g := w.Archived(stores.GuildA, 0)
	w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
	if rows := w.LiveRows(g); len(rows) > 0 {
		t.Errorf("the members are %+v, want none", rows)
	}
}

func TestConcurrentRequestsLoadAGuildOnce(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		g := w.Archived(stores.GuildA, 1500)
		before := w.State(g).Epoch
		f := &stores.Faults{}
		replicas := []*hydrate.Hydrator{w.Hydrator(f), w.Hydrator(f)}
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if err := replicas[i%2].Load(w.Context(), g); err != nil {
					t.Error(err)
				}
				if _, err := w.Live.Member(w.Context(), g, stores.User(1499)); err != nil {
					t.Errorf("reading a member after the load: %v", err)
				}
			})
		}
		all.Wait()
		if got := w.State(g).Epoch; got != before+1 || f.Count("CommitHydration") != 1 {
			t.Errorf("the epoch is %d after %d with %d commits, want one load", got, before, f.Count("CommitHydration"))
		}
		w.Must(replicas[0].Load(w.Context(), g))
		if n := f.Count("CommitHydration"); n != 1 {
			t.Errorf("a loaded guild was loaded again: %d commits, want 1", n)
		}
		w.InStep(g)
	})
}

func TestAWaitingRequestKeepsItsOwnDeadline(t *testing.T) {
	w := stores.Embedded(t)
	g := w.Archived(stores.GuildA, 10)
	hook, reached, release := stores.Held("LoadChunk", 1)
	h := w.Hydrator(&stores.Faults{Before: hook})
	ctx, cancel := context.WithCancel(w.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- h.Load(ctx, g) }()
	<-reached
	go func() { second <- h.Load(w.Context(), g) }()
	expired, cancelExpired := context.WithTimeout(w.Context(), time.Nanosecond)
	defer cancelExpired()
	if err := h.Load(expired, g); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, leaderboard.ErrStillLoading) {
		t.Errorf("a request over its deadline: %v, want ErrStillLoading", err)
	}
	// The request that began the load leaves, and the load continues.
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first request, which left: %v, want context.Canceled", err)
	}
	w.NotLoaded(g)
	close(release)
	if err := <-second; err != nil {
		t.Errorf("the request that waited: %v, want none", err)
	}
	w.InStep(g)
	if got := w.State(g).Epoch; got != 1 {
		t.Errorf("the epoch is %d, want 1 after one load", got)
	}
}

// A caller whose time ends gets the reason: the guild is being loaded, or, while a store is silent, only that the time is over.
func TestARequestOverItsTimeKnowsIfItsGuildIsLoading(t *testing.T) {
	w := stores.Embedded(t)
	g := w.Archived(stores.GuildA, 10)
	expired := func(h *hydrate.Hydrator) error {
		ctx, cancel := context.WithTimeout(w.Context(), time.Nanosecond)
		defer cancel()
		return h.Load(ctx, g)
	}
	hook, reached, silent := stores.Held("State", 1)
	waits := w.Hydrator(&stores.Faults{Before: hook})
	first := make(chan error, 1)
	go func() { first <- waits.Load(w.Context(), g) }()
	<-reached
	if err := expired(waits); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, leaderboard.ErrStillLoading) {
		t.Errorf("while the archive is silent: %v, want only context.DeadlineExceeded", err)
	}

	hook, reached, release := stores.Held("LoadChunk", 1)
	loads := w.Hydrator(&stores.Faults{Before: hook})
	second := make(chan error, 1)
	go func() { second <- loads.Load(w.Context(), g) }()
	<-reached
	close(silent)
	w.Eventually("another replica loads", func() bool { return errors.Is(expired(waits), leaderboard.ErrStillLoading) })
	close(release)
	for _, done := range []chan error{first, second} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	w.InStep(g)
}

// Each step of a hydration fails, before its work or after it without an answer. No request sees a part of the guild, no key is left
// behind, and the next request loads the guild.
func TestAHydrationThatFailsAnywhereIsRepeated(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		g := w.Archived(stores.GuildA, pageSize+1)
		cases := 0
		for _, method := range []string{"State", "BeginHydration", "RaiseEpoch", "Members", "LoadChunk", "CommitHydration"} {
			for _, after := range []bool{false, true} {
				for n := 1; ; n++ {
					cases++
					name := fmt.Sprintf("%s %d, after the work: %v", method, n, after)
					committed := false
					hidden := func(_ context.Context, c stores.Call) error {
						if !committed {
							w.NotLoaded(g)
						}
						return nil
					}
					fail := stores.At(method, n)
					f := &stores.Faults{Before: hidden}
					f.After = func(ctx context.Context, c stores.Call) error {
						if c.Method == "CommitHydration" { // the only call at a time
							committed = true
						}
						if after {
							return fail(ctx, c)
						}
						return nil
					}
					if !after {
						f.Before = func(ctx context.Context, c stores.Call) error { return errors.Join(hidden(ctx, c), fail(ctx, c)) }
					}
					h := w.Hydrator(f)
					err := h.Load(w.Context(), g)
					fired := f.Count(method) >= n
					if fired != (err != nil) || (fired && !errors.Is(err, stores.ErrBroken)) {
						w.Fatalf("%s: the load returned %v, want ErrBroken if the fault happened: %v", name, err, fired)
					}
					w.NoTraces(g)
					if fired && !committed {
						w.NotLoaded(g)
					}
					if fired {
						w.Must(h.Load(w.Context(), g))
					}
					w.InStep(g)
					w.NoTraces(g)
					w.Must(w.Live.Drop(w.Context(), g))
					if w.Failed() {
						w.Fatalf("the case was %s", name)
					}
					if !fired {
						break
					}
				}
			}
		}
		if cases < 2*(6+6+2) {
			t.Errorf("%d cases ran, so some steps were not reached", cases)
		}
	})
}

func TestAnUnknownIncarnationIsErrGuildMoved(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		g := w.Archived(stores.GuildA, 3)
		h := w.Hydrator(&stores.Faults{})
		unknown := leaderboard.GuildRef{ID: g.ID, Incarnation: g.Incarnation ^ 1}
		if err := h.Load(w.Context(), unknown); !errors.Is(err, leaderboard.ErrGuildMoved) {
			t.Errorf("loading an unknown incarnation: %v, want ErrGuildMoved", err)
		}
		w.NoTraces(g)
	})
}

func TestAGuildDeletedDuringItsLoadIsErrGuildMoved(t *testing.T) {
	for _, method := range []string{"BeginHydration", "RaiseEpoch", "Members", "LoadChunk"} {
		t.Run("before "+method, func(t *testing.T) {
			w := stores.Embedded(t)
			g := w.Archived(stores.GuildA, 1)
			h := w.Hydrator(&stores.Faults{Before: func(ctx context.Context, c stores.Call) error {
				if c.Method == method && c.N == 1 {
					_, err := w.Archive.DeleteGuild(ctx, g.ID)
					return errors.Join(err, w.Live.Drop(ctx, g))
				}
				return nil
			}})
			if err := h.Load(w.Context(), g); !errors.Is(err, leaderboard.ErrGuildMoved) {
				t.Errorf("loading the deleted guild: %v, want ErrGuildMoved", err)
			}
			w.NotLoaded(g)
			w.NoTraces(g)
		})
	}
}

func TestCloseEndsALoad(t *testing.T) {
	for _, method := range []string{"State", "Members", "LoadChunk", "CommitHydration"} {
		t.Run("in "+method, func(t *testing.T) {
			w := stores.Embedded(t)
			g := w.Archived(stores.GuildA, 3)
			hook, reached, _ := stores.Held(method, 1)
			h := w.Hydrator(&stores.Faults{Before: hook})
			answer := make(chan error, 1)
			go func() { answer <- h.Load(w.Context(), g) }()
			<-reached
			h.Close()
			if err := <-answer; !errors.Is(err, context.Canceled) {
				t.Errorf("the load: %v, want context.Canceled", err)
			}
			w.NotLoaded(g)
			w.NoTraces(g)
			if err := h.Load(w.Context(), g); err == nil {
				t.Error("a closed hydrator loaded a guild")
			}
			w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
			w.InStep(g)
		})
	}
}

// A replica was held up for longer than its lock lasts. It must not raise the epoch of a guild that another replica has loaded meanwhile,
// because the writer could no longer write that guild.
func TestALateHydrationDoesNotShutTheWriterOut(t *testing.T) {
	for _, step := range []struct {
		method string
		after  bool
	}{{"BeginHydration", false}, {"BeginHydration", true}, {"RaiseEpoch", false}, {"RaiseEpoch", true}, {"LoadChunk", false}, {"CommitHydration", false}} {
		t.Run(fmt.Sprintf("held up at %s, after the work: %v", step.method, step.after), func(t *testing.T) {
			w := stores.Embedded(t)
			g := w.Archived(stores.GuildA, 10)
			hook, reached, release := stores.Held(step.method, 1)
			f := &stores.Faults{Before: hook}
			if step.after {
				f = &stores.Faults{After: hook}
			}
			slow := w.Hydrator(f)
			answer := make(chan error, 1)
			go func() { answer <- slow.Load(w.Context(), g) }()
			<-reached
			w.Must(w.Redis.Del(w.Context(), "lb:{"+string(g.ID)+"}:hydrating").Err()) // as its expiry would
			w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
			loaded := w.State(g)
			w.Add(g, 1)
			close(release)
			w.Must(<-answer)
			if got := w.State(g); got != loaded {
				t.Errorf("the state is %+v, want %+v", got, loaded)
			}
			w.Add(g, 1)
			w.Must(w.Writer("writer", stores.Never, &stores.Faults{}).Flush(w.Context()))
			w.InStep(g)
		})
	}
}

// A caller that waits for another replica's load gets the guild when the load ends.
func TestABusyGuildIsWaitedFor(t *testing.T) {
	w := stores.Embedded(t)
	g := w.Archived(stores.GuildA, 10)
	hook, reached, release := stores.Held("CommitHydration", 1)
	loader, waiting := w.Hydrator(&stores.Faults{Before: hook}), &stores.Faults{}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- loader.Load(w.Context(), g) }()
	<-reached
	go func() { second <- w.Hydrator(waiting).Load(w.Context(), g) }()
	w.Eventually("the second asks again", func() bool { return waiting.Count("BeginHydration") > 2 })
	close(release)
	w.Must(<-first)
	w.Must(<-second)
	if waiting.Count("RaiseEpoch") != 0 || w.State(g).Epoch != 1 {
		t.Errorf("the epoch is %d, raised %d times by the waiting replica, want 1 and 0", w.State(g).Epoch, waiting.Count("RaiseEpoch"))
	}
}

// A guild that moves between the stores keeps every entry.
func TestASnapshotAndALoadKeepEveryEntry(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		g := w.Guild(stores.GuildA)
		for i := range 20 {
			w.Create(g, i, level.XP(i%4))
		}
		w.Change(g, 3, leaderboard.Change{Op: leaderboard.Set, Amount: level.MaxXP, Cooldown: time.Hour})
		w.Remove(g, 4)
		w.Must(w.Writer("writer", stores.Never, &stores.Faults{}).Flush(w.Context()))
		before, err := w.Live.Page(w.Context(), g, 0, 100)
		w.Must(err)
		w.Must(w.Live.Drop(w.Context(), g))
		w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
		after, err := w.Live.Page(w.Context(), g, 0, 100)
		w.Must(err)
		if !reflect.DeepEqual(after.Rows, before.Rows) {
			t.Errorf("after the load the rows are %+v\nwant %+v", after.Rows, before.Rows)
		}
		if want := (leaderboard.Version{Epoch: before.Version.Epoch + 1, Rev: before.Version.Rev}); after.Version != want {
			t.Errorf("the version is %+v, want %+v", after.Version, want)
		}
		w.InStep(g)
	})
}
