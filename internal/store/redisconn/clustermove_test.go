package redisconn_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/pause"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Masters forget their scripts, and a slot gets to a master that never ran one for its guild: nobody notices.
func TestScriptsAreMissingOnAMaster(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	s := newBoard(c.client)
	load(t, s, row(user1))
	for _, master := range c.Masters {
		ok(t, direct(t, master).ScriptFlush(t.Context()).Err())
	}
	if _, err := s.Change(t.Context(), guild1, user1, plusOne); err != nil {
		t.Fatalf("after the scripts were flushed: %v", err)
	}

	slot := c.SlotOf(prefix + "meta")
	from := c.Owner(slot)
	to := c.Another(from)
	ok(t, direct(t, to).ScriptFlush(t.Context()).Err())
	c.Move(slot, from, to)
	// What it holds there was never compared with the archive.
	if _, err := s.Change(t.Context(), guild1, user1, plusOne); !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Fatalf("on another master: %v, want ErrNotLoaded", err)
	}
	verify(t, c.client)
	o, err := s.Change(t.Context(), guild1, user1, plusOne)
	if want := (leaderboard.Outcome{Before: 101, After: 102}); err != nil || o != want {
		t.Errorf("on another master, verified: %+v, %v; want %+v", o, err, want)
	}
	_, err = s.Change(t.Context(), guild1, user1, named("key"))
	ok(t, err)
	wantXP(t, s, 103)
}

// While a slot is on its way a key is on one master or the other, and what needs several that are on both waits.
func TestASlotOnItsWay(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClustered(t)
	s := newBoard(c.client)
	load(t, s, row(user1))
	slot := c.SlotOf(prefix + "meta")
	from := c.Owner(slot)
	to := c.Another(from)
	ok(t, direct(t, from).Set(ctx, prefix+"a", "A", 0).Err())
	c.BeginMove(slot, from, to)

	// A single key that has gone is asked for on its new node, alone and in a pipeline with others.
	c.MoveKeys(slot, from, to, prefix+"a")
	if got, err := c.client.Get(ctx, prefix+"a").Result(); err != nil || got != "A" {
		t.Errorf("a key that has gone: %q, %v", got, err)
	}
	pipeline := c.client.Pipeline()
	gone, stays, elsewhere := pipeline.Get(ctx, prefix+"a"), pipeline.HGet(ctx, prefix+"meta", "rev"), pipeline.Set(ctx, "b", "B", 0)
	if _, err := pipeline.Exec(ctx); err != nil || gone.Val() != "A" || stays.Val() != "0" || elsewhere.Val() != "OK" {
		t.Errorf("a pipeline: %q, %q, %q, %v", gone.Val(), stays.Val(), elsewhere.Val(), err)
	}

	// The guild's version needs one key, which is still there.
	if v, err := s.Version(ctx, guild1); err != nil || v.Epoch != 1 {
		t.Errorf("version %+v, %v", v, err)
	}
	// A change names keys that are not there, since nothing waits to be archived and there was no event: it gives up when its patience ends...
	hasty := pause.WithPatience(ctx, 50*time.Millisecond)
	if o, err := s.Change(hasty, guild1, user1, plusOne); err == nil || errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a change on a slot on its way: %+v, %v", o, err)
	}
	c.MoveKeys(slot, from, to, prefix+"xp")
	if o, err := s.Change(hasty, guild1, user1, plusOne); err == nil || errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a change of a guild that is split: %+v, %v", o, err)
	}
	if _, err := s.Change(hasty, guild1, user1, named("key")); err == nil || errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a named change of a guild that is split: %v", err)
	}
	// ...and a patient one is made once the slot has arrived, by the guild's being compared with the archive.
	changed := make(chan error, 1)
	go func() {
		_, err := s.Change(pause.WithPatience(ctx, patience), guild1, user1, plusOne)
		changed <- err
	}()
	c.MoveKeys(slot, from, to)
	// The version's only key is on the other node, where nothing of the guild was compared with the archive.
	if _, err := s.Version(ctx, guild1); !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("version: %v, want ErrNotLoaded", err)
	}
	c.EndMove(slot, from, to)
	if err := <-changed; !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("the patient change: %v, want ErrNotLoaded", err)
	}
	verify(t, c.client)
	wantXP(t, s, 100)
	_, err := s.Change(ctx, guild1, user1, plusOne)
	ok(t, err)
	wantXP(t, s, 101)
}

// onlyWriter changes a member that nobody else changes. Whenever a change is not answered it looks whether that was made, so it
// would see any that was made twice.
type onlyWriter struct {
	s, direct     *board
	user          id.User
	xp            level.XP
	made, unknown *atomic.Int64
}

func (w *onlyWriter) write(t *testing.T) {
	o, err := w.s.Change(t.Context(), guild1, w.user, plusOne)
	switch {
	case err == nil:
		w.xp++
		w.made.Add(1)
		if o.After != w.xp {
			t.Errorf("%+v, want %d XP", o, w.xp)
			w.xp = o.After
		}
	case errors.Is(err, leaderboard.ErrNotLoaded): // was not made
		time.Sleep(time.Millisecond)
	default:
		w.unknown.Add(1)
		var m leaderboard.Ranked
		for {
			if m, err = w.direct.Member(t.Context(), guild1, w.user); err == nil || t.Context().Err() != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if m.XP != w.xp && m.XP != w.xp+1 {
			t.Errorf("%d XP after a change that was not answered, and %d before", m.XP, w.xp)
		}
		w.xp = m.XP
	}
}

// Requests and replies get lost while a guild's slot goes from master to master under changes, and at last a replica takes its
// master's place in an orderly way, so that nothing is lost by that. Each change that was answered was made once, and each other
// one at most once.
func TestChangesAreMadeAtMostOnceWhileSlotsMove(t *testing.T) {
	t.Parallel()
	const workers, moves, seed = 8, 4, 20261121
	c := newClustered(t)
	direct := newBoard(c.client)
	proxies := map[string]*testenv.Proxy{}
	for _, s := range append(c.Masters, c.Replicas...) {
		proxies[s.Addr()] = testenv.NewProxy(t, s.Addr())
	}
	client := connectCluster(t, c.URL())
	client.Through(func(address string) string { return proxies[address].Addr() })
	s := newBoard(client)
	var rows []snapshot.Row
	for w := range workers {
		rows = append(rows, row(nth(w)))
	}
	load(t, direct, rows...)
	slot := c.SlotOf(prefix + "meta")

	var made, unknown, faults atomic.Int64
	ended := make(chan struct{})
	var all sync.WaitGroup
	for i := range workers {
		w := &onlyWriter{s: s, direct: direct, user: nth(i), xp: 100, made: &made, unknown: &unknown}
		all.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					w.write(t)
				}
			}
		})
	}
	goOn := func() {
		t.Helper()
		least := made.Load() + 20
		testenv.Wait(t, "changes are made", func() bool { return made.Load() >= least })
	}
	for i := range moves + 1 {
		for _, p := range proxies {
			p.Fail(seed+uint64(i), 0.1)
		}
		goOn()
		from := c.Owner(slot)
		if i < moves {
			c.Move(slot, from, c.Another(from))
		} else {
			next := c.ReplicaOf(from)
			c.ask(next, "CLUSTER", "FAILOVER")
			testenv.Wait(t, "the replica takes over", func() bool { return c.Owner(slot) == next })
		}
		verify(t, c.client)
	}
	goOn()
	close(ended)
	all.Wait()
	for _, p := range proxies {
		faults.Add(p.Faults())
	}
	t.Logf("%d faults; %d changes answered, %d not", faults.Load(), made.Load(), unknown.Load())
	if faults.Load() == 0 || unknown.Load() == 0 {
		t.Error("that proves nothing")
	}
}
