package redisconn_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/events"
)

// Two of three masters hang, so the third serves nothing either. Callers get an error when their patience ends, whichever master they
// call.
func TestACallInAHangingClusterEndsInTime(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	s := newBoard(c.client)
	load(t, s, row(user1))
	left := c.ownerOf(guild1)
	for _, node := range append(c.Masters, c.Replicas...) {
		if node != left {
			node.Pause()
			defer node.Resume()
		}
	}
	testenv.Wait(t, "the last master serves nothing", func() bool {
		return strings.Contains(c.ask(left, "CLUSTER", "INFO"), "cluster_state:fail")
	})
	for range 3 {
		ctx, cancel := context.WithTimeout(pause.WithPatience(t.Context(), 100*time.Millisecond), patience/2)
		if _, err := s.Change(ctx, guild1, user1, plusOne); err == nil || ctx.Err() != nil {
			t.Errorf("a change: %v, with its context %v, want an error before its context ends", err, ctx.Err())
		}
		cancel()
	}
}

// One master is down for good. Reads of guilds on all masters, and of their events, still return those on the others.
func TestReadsReturnTheGuildsOfLiveMasters(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClustered(t)
	s := newBoard(c.client)
	var all []id.Guild
	var from []events.Cursor
	gone, left := 0, map[id.Guild]bool{}
	for i := range 30 {
		g := guildNo(i)
		loadGuild(t, s, g, user1)
		_, err := s.Change(ctx, g, user1, plusOne)
		ok(t, err)
		all, from = append(all, g.ID), append(from, events.Cursor{Guild: g})
		if c.ownerOf(g) == c.Masters[0] {
			gone++
		} else {
			left[g.ID] = true
		}
	}
	if gone == 0 || len(left) == 0 {
		t.Fatal("the guilds are not on all masters, so the test proves nothing")
	}
	whole, err := s.ReadEvents(ctx, from, 10)
	ok(t, err)
	c.ReplicaOf(c.Masters[0]).Kill()
	c.Masters[0].Kill()
	read, err := s.ReadEvents(ctx, from, 10)
	if err == nil || len(read) != len(from) {
		t.Fatalf("%d of %d logs were read (%v), want all but the dead master's, and its error", len(read), len(from), err)
	}
	for i, g := range all {
		if len(whole[i]) == 0 || left[g] && len(read[i]) != len(whole[i]) || !left[g] && len(read[i]) != 0 {
			t.Errorf("guild %d (on the dead master: %v) has %d events of %d", i, !left[g], len(read[i]), len(whole[i]))
		}
	}
	for i, got := range s.ReadChanges(ctx, all, 10) {
		if left[all[i]] && (got.Err != nil || len(got.Batch.Rows) != 1) || !left[all[i]] && got.Err == nil {
			t.Errorf("the changes of guild %d (on the dead master: %v) are %+v", i, !left[all[i]], got)
		}
	}
	loaded, err := s.LoadedGuilds(ctx)
	if err == nil || len(loaded) != len(left) {
		t.Errorf("%d guilds are loaded (%v), want %d and an error", len(loaded), err, len(left))
	}
	for range 10 { // the order of the nodes is random
		seen, err := s.Survey(ctx, all, 0)
		if err == nil || len(seen.Changed) != len(left) {
			t.Errorf("%d guilds have changed (%v), want %d and an error", len(seen.Changed), err, len(left))
		}
	}
	for _, g := range loaded {
		if !left[g] {
			t.Errorf("guild %s on the dead master counts as loaded", g)
		}
	}
}
