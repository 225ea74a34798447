package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/storetest"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// archived creates a guild with n members that only the archive holds.
func (w *world) archived(g id.Guild, n int) leaderboard.GuildRef {
	w.Helper()
	ref := leaderboard.Ref(storetest.PutGuild(w.T, w.archive, g))
	avatar, global, accent := "a_0123456789abcdef0123456789abcdef", "", "#00add8"
	rows := make([]snapshot.Row, n)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{
			UserID: user(i), XP: level.XP((i * 7919) % 1_000_003), MessageCount: int64(i), LastUpdated: time.UnixMilli(1767225600000 + int64(i)).UTC(),
			User: leaderboard.User{Discriminator: "0", Username: fmt.Sprintf("gopher%d", i)},
		}}
		if i%3 == 0 {
			rows[i].User.Avatar, rows[i].User.GlobalName, rows[i].User.AccentColour = &avatar, &global, &accent
			rows[i].CooldownUntil = time.UnixMilli(1767225600500).UTC()
		}
	}
	w.must(w.writer("importer", never, &faults{}).Import(w.Context(), ref, rows))
	w.killed("importer")
	return ref
}

func (w *world) notLoaded(g leaderboard.GuildRef) {
	w.Helper()
	if m, err := w.live.Member(w.Context(), g, user(0)); !errors.Is(err, leaderboard.ErrNotLoaded) {
		w.Errorf("member %+v, %v, want ErrNotLoaded", m, err)
	}
}

// noTraces fails the test if a lock or anything half loaded is left.
func (w *world) noTraces(g leaderboard.GuildRef) {
	w.Helper()
	for _, name := range []string{"hydrating", "load:*"} {
		if keys := w.redis.Keys(w.Context(), "lb:{"+string(g.ID)+"}:"+name).Val(); len(keys) > 0 {
			w.Errorf("%v is left in Redis", keys)
		}
	}
}

// held returns a hook that holds the n-th call of a method up until release is closed or the call's context ends, and
// says so by closing reached.
func held(method string, n int) (hook func(context.Context, call) error, reached, release chan struct{}) {
	reached, release = make(chan struct{}), make(chan struct{})
	return func(ctx context.Context, c call) error {
		if c.method != method || c.n != n {
			return nil
		}
		close(reached)
		return until(ctx, release)
	}, reached, release
}

func TestHydrationLoadsWhatIsArchived(t *testing.T) {
	onBothStores(t, func(w *world) {
		const members = 2000 // a whole number of chunks
		g := w.archived(guildA, members)
		// A tombstone among the rows is not a member.
		lease, err := w.archive.AcquireLease(w.Context(), "writer", taken, false)
		w.must(err)
		s := w.state(g)
		gone := snapshot.Row{Member: leaderboard.Member{UserID: user(5)}, Deleted: true}
		w.must(snapshot.WriteBatch(w.Context(), w.archive, lease, snapshot.Batch{Guild: g, Epoch: s.Epoch, Rev: s.Archived + 1, Known: s.Archived, Rows: []snapshot.Row{gone}}))

		w.notLoaded(g)
		w.must(w.hydrator(&faults{}).Load(w.Context(), g))
		if rows := w.liveRows(g); len(rows) != members-1 || rows[3].CooldownUntil.IsZero() || rows[3].User.Avatar == nil || *rows[3].User.GlobalName != "" {
			t.Errorf("%d members, %+v", len(rows), rows[3])
		}
		w.inStep(g)
		w.noTraces(g)
		p, err := w.live.Page(w.Context(), g, 0, members, leaderboard.Digest{})
		w.must(err)
		for i, row := range p.Rows {
			if row.Rank != int64(i+1) || (i > 0 && row.XP > p.Rows[i-1].XP) {
				t.Fatalf("row %d: rank %d, %d XP after %d", i, row.Rank, row.XP, p.Rows[max(i-1, 0)].XP)
			}
		}
		if want := (leaderboard.Version{Epoch: s.Epoch + 1, Rev: s.Archived + 1}); p.Version != want {
			t.Errorf("version %+v, want %+v", p.Version, want)
		}
	})
}

func TestAnEmptyGuildIsLoaded(t *testing.T) {
	w := embeddedWorld(t)
	g := w.archived(guildA, 0)
	w.must(w.hydrator(&faults{}).Load(w.Context(), g))
	if rows := w.liveRows(g); len(rows) > 0 {
		t.Errorf("members %+v", rows)
	}
}

func TestManyWhoAskLoadOnce(t *testing.T) {
	onBothStores(t, func(w *world) {
		g := w.archived(guildA, 1500)
		before := w.state(g).Epoch
		f := &faults{}
		replicas := []*snapshot.Hydrator{w.hydrator(f), w.hydrator(f)}
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if err := replicas[i%2].Load(w.Context(), g); err != nil {
					t.Error(err)
				}
				if _, err := w.live.Member(w.Context(), g, user(1499)); err != nil {
					t.Errorf("a member, once loaded: %v", err)
				}
			})
		}
		all.Wait()
		if got := w.state(g).Epoch; got != before+1 || f.count("CommitHydration") != 1 {
			t.Errorf("epoch %d after %d, %d commits", got, before, f.count("CommitHydration"))
		}
		w.must(replicas[0].Load(w.Context(), g))
		if n := f.count("CommitHydration"); n != 1 {
			t.Errorf("a guild that is there was loaded again: %d commits", n)
		}
		w.inStep(g)
	})
}

func TestAWaitingRequestKeepsItsOwnDeadline(t *testing.T) {
	w := embeddedWorld(t)
	g := w.archived(guildA, 10)
	hook, reached, release := held("LoadChunk", 1)
	h := w.hydrator(&faults{before: hook})
	ctx, cancel := context.WithCancel(w.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- h.Load(ctx, g) }()
	<-reached
	go func() { second <- h.Load(w.Context(), g) }()
	expired, cancelExpired := context.WithTimeout(w.Context(), time.Nanosecond)
	defer cancelExpired()
	if err := h.Load(expired, g); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, leaderboard.ErrStillLoading) {
		t.Errorf("a request whose deadline passed: %v, want that the guild is still being loaded", err)
	}
	// The one that began the load leaves, and the load continues.
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first request, which left: %v", err)
	}
	w.notLoaded(g)
	close(release)
	if err := <-second; err != nil {
		t.Errorf("the request that waited: %v", err)
	}
	w.inStep(g)
	if got := w.state(g).Epoch; got != 1 {
		t.Errorf("epoch %d, want one load", got)
	}
}

// A caller that must not wait any longer learns why: another replica is at it, or, while a store says nothing, only that time is over.
func TestWhoeverWaitsKnowsWhetherMembersAreOnTheirWay(t *testing.T) {
	w := embeddedWorld(t)
	g := w.archived(guildA, 10)
	expired := func(h *snapshot.Hydrator) error {
		ctx, cancel := context.WithTimeout(w.Context(), time.Nanosecond)
		defer cancel()
		return h.Load(ctx, g)
	}
	hook, reached, silent := held("State", 1)
	waits := w.hydrator(&faults{before: hook})
	first := make(chan error, 1)
	go func() { first <- waits.Load(w.Context(), g) }()
	<-reached
	if err := expired(waits); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, leaderboard.ErrStillLoading) {
		t.Errorf("the archive is silent: %v", err)
	}

	hook, reached, release := held("LoadChunk", 1)
	loads := w.hydrator(&faults{before: hook})
	second := make(chan error, 1)
	go func() { second <- loads.Load(w.Context(), g) }()
	<-reached
	close(silent)
	w.eventually("another replica loads", func() bool { return errors.Is(expired(waits), leaderboard.ErrStillLoading) })
	close(release)
	for _, done := range []chan error{first, second} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	w.inStep(g)
}

// Whatever step of a hydration fails, before its work or when only the answer was lost: nobody sees a part of the guild,
// nothing is left behind, and the next request loads it.
func TestAHydrationThatFailedAnywhereIsRepeated(t *testing.T) {
	onServers(t, func(w *world) {
		g := w.archived(guildA, pageSize+1)
		cases := 0
		for _, method := range []string{"State", "BeginHydration", "RaiseEpoch", "Members", "LoadChunk", "CommitHydration"} {
			for _, after := range []bool{false, true} {
				for n := 1; ; n++ {
					cases++
					name := fmt.Sprintf("%s %d, after the work: %v", method, n, after)
					committed := false
					hidden := func(_ context.Context, c call) error {
						if !committed {
							w.notLoaded(g)
						}
						return nil
					}
					fail := at(method, n)
					f := &faults{before: hidden}
					f.after = func(ctx context.Context, c call) error {
						if c.method == "CommitHydration" { // the only call then; others may come two at a time
							committed = true
						}
						if after {
							return fail(ctx, c)
						}
						return nil
					}
					if !after {
						f.before = func(ctx context.Context, c call) error { return errors.Join(hidden(ctx, c), fail(ctx, c)) }
					}
					h := w.hydrator(f)
					err := h.Load(w.Context(), g)
					fired := f.count(method) >= n
					if fired != (err != nil) || (fired && !errors.Is(err, errBroken)) {
						w.Fatalf("%s: %v", name, err)
					}
					w.noTraces(g)
					if fired && !committed {
						w.notLoaded(g)
					}
					if fired {
						w.must(h.Load(w.Context(), g))
					}
					w.inStep(g)
					w.noTraces(g)
					w.must(w.live.Drop(w.Context(), g))
					if w.Failed() {
						w.Fatal(name)
					}
					if !fired {
						break
					}
				}
			}
		}
		if cases < 2*(6+6+2) {
			t.Errorf("%d cases: some steps were not reached", cases)
		}
	})
}

func TestAnUnknownIncarnationHasMoved(t *testing.T) {
	onBothStores(t, func(w *world) {
		g := w.archived(guildA, 3)
		h := w.hydrator(&faults{})
		unknown := leaderboard.GuildRef{ID: g.ID, Incarnation: g.Incarnation ^ 1}
		if err := h.Load(w.Context(), unknown); !errors.Is(err, leaderboard.ErrGuildMoved) {
			t.Errorf("an unknown incarnation: %v", err)
		}
		w.noTraces(g)
	})
}

func TestAGuildDeletedDuringItsHydrationHasMoved(t *testing.T) {
	for _, method := range []string{"BeginHydration", "RaiseEpoch", "Members", "LoadChunk"} {
		t.Run("before "+method, func(t *testing.T) {
			w := embeddedWorld(t)
			g := w.archived(guildA, 1)
			h := w.hydrator(&faults{before: func(ctx context.Context, c call) error {
				if c.method == method && c.n == 1 {
					_, err := w.archive.DeleteGuild(ctx, g.ID)
					return errors.Join(err, w.live.Drop(ctx, g))
				}
				return nil
			}})
			if err := h.Load(w.Context(), g); !errors.Is(err, leaderboard.ErrGuildMoved) {
				t.Errorf("load: %v", err)
			}
			w.notLoaded(g)
			w.noTraces(g)
		})
	}
}

func TestCloseEndsALoad(t *testing.T) {
	for _, method := range []string{"State", "Members", "LoadChunk", "CommitHydration"} {
		t.Run("in "+method, func(t *testing.T) {
			w := embeddedWorld(t)
			g := w.archived(guildA, 3)
			hook, reached, _ := held(method, 1)
			h := w.hydrator(&faults{before: hook})
			answer := make(chan error, 1)
			go func() { answer <- h.Load(w.Context(), g) }()
			<-reached
			h.Close()
			if err := <-answer; !errors.Is(err, context.Canceled) {
				t.Errorf("the load: %v", err)
			}
			w.notLoaded(g)
			w.noTraces(g)
			if err := h.Load(w.Context(), g); err == nil {
				t.Error("a closed hydrator loads")
			}
			w.must(w.hydrator(&faults{}).Load(w.Context(), g))
			w.inStep(g)
		})
	}
}

// A replica that was held up for longer than its lock lasted must not raise the epoch of a guild that another one has
// loaded meanwhile: the writer could write nothing of that guild any more.
func TestALateHydrationDoesNotShutTheWriterOut(t *testing.T) {
	for _, step := range []struct {
		method string
		after  bool
	}{{"BeginHydration", false}, {"BeginHydration", true}, {"RaiseEpoch", false}, {"RaiseEpoch", true}, {"LoadChunk", false}, {"CommitHydration", false}} {
		t.Run(fmt.Sprintf("held up at %s, after the work: %v", step.method, step.after), func(t *testing.T) {
			w := embeddedWorld(t)
			g := w.archived(guildA, 10)
			hook, reached, release := held(step.method, 1)
			f := &faults{before: hook}
			if step.after {
				f = &faults{after: hook}
			}
			slow := w.hydrator(f)
			answer := make(chan error, 1)
			go func() { answer <- slow.Load(w.Context(), g) }()
			<-reached
			w.must(w.redis.Del(w.Context(), "lb:{"+string(g.ID)+"}:hydrating").Err()) // as its expiry would
			w.must(w.hydrator(&faults{}).Load(w.Context(), g))
			loaded := w.state(g)
			w.add(g, 1)
			close(release)
			w.must(<-answer)
			if got := w.state(g); got != loaded {
				t.Errorf("state %+v, was %+v", got, loaded)
			}
			w.add(g, 1)
			w.must(w.writer("writer", never, &faults{}).Flush(w.Context()))
			w.inStep(g)
		})
	}
}

// Whoever waits for another replica's load gets the guild when that one is done.
func TestABusyGuildIsWaitedFor(t *testing.T) {
	w := embeddedWorld(t)
	g := w.archived(guildA, 10)
	hook, reached, release := held("CommitHydration", 1)
	loader, waiting := w.hydrator(&faults{before: hook}), &faults{}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- loader.Load(w.Context(), g) }()
	<-reached
	go func() { second <- w.hydrator(waiting).Load(w.Context(), g) }()
	w.eventually("the second asks again", func() bool { return waiting.count("BeginHydration") > 2 })
	close(release)
	w.must(<-first)
	w.must(<-second)
	if waiting.count("RaiseEpoch") != 0 || w.state(g).Epoch != 1 {
		t.Errorf("epoch %d, raised %d times by the one that waited", w.state(g).Epoch, waiting.count("RaiseEpoch"))
	}
}

// A guild that goes back and forth between the stores keeps every entry as it is.
func TestRoundTrip(t *testing.T) {
	onBothStores(t, func(w *world) {
		g := w.guild(guildA)
		for i := range 20 {
			w.create(g, i, level.XP(i%4))
		}
		w.change(g, 3, leaderboard.Change{Op: leaderboard.Set, Amount: level.MaxXP, Cooldown: time.Hour})
		w.remove(g, 4)
		w.must(w.writer("writer", never, &faults{}).Flush(w.Context()))
		before, err := w.live.Page(w.Context(), g, 0, 100, leaderboard.Digest{})
		w.must(err)
		w.must(w.live.Drop(w.Context(), g))
		w.must(w.hydrator(&faults{}).Load(w.Context(), g))
		after, err := w.live.Page(w.Context(), g, 0, 100, leaderboard.Digest{})
		w.must(err)
		if !reflect.DeepEqual(after.Rows, before.Rows) {
			t.Errorf("after %+v\nbefore %+v", after.Rows, before.Rows)
		}
		if want := (leaderboard.Version{Epoch: before.Version.Epoch + 1, Rev: before.Version.Rev}); after.Version != want {
			t.Errorf("version %+v, want %+v", after.Version, want)
		}
		w.inStep(g)
	})
}
