package redisconn_test

import (
	"errors"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Masters forget their scripts, and a slot moves to a master without scripts. Callers see no error.
func scriptsAreMissing(t *testing.T, c *clustered) {
	s := newBoard(c.client)
	load(t, s, row(user1))
	for _, master := range c.Masters {
		ok(t, direct(t, master).ScriptFlush(t.Context()).Err())
	}
	if _, err := s.Change(t.Context(), guild1, user1, plusOne); err != nil {
		t.Fatalf("a change after the scripts were flushed: %v", err)
	}

	slot := c.SlotOf(prefix + "meta")
	from := c.Owner(slot)
	to := c.Another(from)
	ok(t, direct(t, to).ScriptFlush(t.Context()).Err())
	c.Move(slot, from, to)
	// The new master's copy was not compared with the archive.
	if _, err := s.Change(t.Context(), guild1, user1, plusOne); !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Fatalf("a change on the new master: %v, want ErrNotLoaded", err)
	}
	if got := s.ReadChanges(t.Context(), []id.Guild{guild1.ID}, 10)[0]; !errors.Is(got.Err, snapshot.ErrUnverified) {
		t.Errorf("the changes on the new master are %+v, want ErrUnverified", got)
	}
	verify(t, c.client)
	o, err := s.Change(t.Context(), guild1, user1, plusOne)
	if want := (leaderboard.Outcome{Before: 101, After: 102}); err != nil || o != want {
		t.Errorf("a change on the verified new master: %+v (%v), want %+v", o, err, want)
	}
	_, err = s.Change(t.Context(), guild1, user1, named("key"))
	ok(t, err)
	wantXP(t, s, 103)
}

// While a slot is moved, each key is on one of two masters. A call with keys on both waits.
func slotOnItsWay(t *testing.T, c *clustered) {
	ctx := t.Context()
	s := newBoard(c.client)
	load(t, s, row(user1))
	slot := c.SlotOf(prefix + "meta")
	from := c.Owner(slot)
	to := c.Another(from)
	ok(t, direct(t, from).Set(ctx, prefix+"a", "A", 0).Err())
	c.BeginMove(slot, from, to)

	// A read of a moved key goes to its new node, alone and in a pipeline with others.
	c.MoveKeys(slot, from, to, prefix+"a")
	if got, err := c.client.Get(ctx, prefix+"a").Result(); err != nil || got != "A" {
		t.Errorf("reading a moved key returned %q (%v), want A", got, err)
	}
	pipeline := c.client.Pipeline()
	gone, stays, elsewhere := pipeline.Get(ctx, prefix+"a"), pipeline.HGet(ctx, prefix+"meta", "rev"), pipeline.Set(ctx, "b", "B", 0)
	if _, err := pipeline.Exec(ctx); err != nil || gone.Val() != "A" || stays.Val() != "0" || elsewhere.Val() != "OK" {
		t.Errorf("the pipeline returned %q, %q, %q (%v), want A, 0 and OK", gone.Val(), stays.Val(), elsewhere.Val(), err)
	}

	// The guild's version needs one key, which has not moved yet.
	if v, err := s.Version(ctx, guild1); err != nil || v.Epoch != 1 {
		t.Errorf("the version is %+v (%v), want epoch 1", v, err)
	}
	// A change names keys that do not exist, because there were no changes or events. It fails when its patience ends...
	hasty := pause.WithPatience(ctx, 50*time.Millisecond)
	if o, err := s.Change(hasty, guild1, user1, plusOne); err == nil || errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a change on a moving slot: %+v (%v), want an error other than ErrNotLoaded", o, err)
	}
	c.MoveKeys(slot, from, to, prefix+"xp")
	if o, err := s.Change(hasty, guild1, user1, plusOne); err == nil || errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a change of a split guild: %+v (%v), want an error other than ErrNotLoaded", o, err)
	}
	if _, err := s.Change(hasty, guild1, user1, named("key")); err == nil || errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a named change of a split guild: %v, want an error other than ErrNotLoaded", err)
	}
	// ...and a patient one reaches the new master once the slot has moved, where the guild must be verified.
	changed := make(chan error, 1)
	go func() {
		_, err := s.Change(pause.WithPatience(ctx, patience), guild1, user1, plusOne)
		changed <- err
	}()
	c.MoveKeys(slot, from, to)
	// The version's only key has moved, and the guild's copy there was not compared with the archive.
	if _, err := s.Version(ctx, guild1); !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("reading the version on the new master: %v, want ErrNotLoaded", err)
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
