package redisconn_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
	"levelboard/internal/testing/testenv"
)

// Two of three masters hang, so that the third serves nothing either. Its callers hear so when their patience ends, whatever the
// others do.
func TestACallInAClusterThatHangsEndsInTime(t *testing.T) {
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
			t.Errorf("a change: %v, %v", err, ctx.Err())
		}
		cancel()
	}
}

// A master is away for good. A question about guilds of all masters is answered for those of the others.
func TestGuildsOfTheMastersThatAreLeft(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClustered(t)
	s := newBoard(c.client)
	var all []id.Guild
	gone, left := 0, map[id.Guild]bool{}
	for i := range 30 {
		g := guildNo(i)
		loadGuild(t, s, g, user1)
		_, err := s.Change(ctx, g, user1, plusOne)
		ok(t, err)
		all = append(all, g.ID)
		if c.ownerOf(g) == c.Masters[0] {
			gone++
		} else {
			left[g.ID] = true
		}
	}
	if gone == 0 || len(left) == 0 {
		t.Fatal("the guilds are not on all masters")
	}
	c.ReplicaOf(c.Masters[0]).Kill()
	c.Masters[0].Kill()
	loaded, err := s.LoadedGuilds(ctx)
	if err == nil || len(loaded) != len(left) {
		t.Errorf("%d guilds are loaded, %v; want %d and an error", len(loaded), err, len(left))
	}
	for range 10 { // the nodes are asked in no order
		seen, err := s.Survey(ctx, all, 0)
		if err == nil || len(seen.Changed) != len(left) {
			t.Errorf("%d guilds have changed, %v; want %d and an error", len(seen.Changed), err, len(left))
		}
	}
	for _, g := range loaded {
		if !left[g] {
			t.Errorf("guild %s of the master that is away is loaded", g)
		}
	}
}
