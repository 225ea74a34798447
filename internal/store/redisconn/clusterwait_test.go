package redisconn_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// waits returns a store on the cluster whose changes wait for replicas.
func (c *clustered) waits(replicas int, timeout time.Duration) *board {
	return newBoard(connectWith(c, c.URL(), redisconn.ConnectOptions{
		Cluster: true, Timeout: patience, Waiting: redisconn.Waiting{Replicas: replicas, Timeout: timeout},
	}))
}

// guildsOn returns two guilds with one member each, one on the first master and one on another.
func (c *clustered) guildsOn(s *board) (here, there leaderboard.GuildRef) {
	c.Helper()
	for i := 0; here.ID == "" || there.ID == ""; i++ {
		g := guildNo(i)
		if owner := c.ownerOf(g); owner == c.Masters[0] && here.ID == "" {
			here = g
		} else if owner != c.Masters[0] && there.ID == "" {
			there = g
		} else {
			continue
		}
		loadGuild(c.T, s, g, user1)
	}
	return here, there
}

func (c *clustered) ownerOf(g leaderboard.GuildRef) *testenv.RedisServer {
	c.Helper()
	return c.Owner(c.SlotOf("{" + string(g.ID) + "}"))
}

// On a cluster a change waits for replicas of its guild's own master. Without replicas it is made and not acknowledged, while changes on
// other masters succeed.
func TestChangesWaitForReplicasOfTheirMaster(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	s := c.waits(1, 300*time.Millisecond)
	if n, err := s.client.Replicas(t.Context()); n != 1 || err != nil {
		t.Errorf("the masters have %d replicas (%v), want 1", n, err)
	}
	here, there := c.guildsOn(s)
	each := func(s *board, g leaderboard.GuildRef, want error) {
		t.Helper()
		for i, err := range everyChange(t, s, g) {
			if !errors.Is(err, want) {
				t.Errorf("change %d of guild %s: %v, want %v", i, g.ID, err, want)
			}
		}
	}
	patient := c.waits(1, patience/2)
	each(patient, here, nil)
	each(patient, there, nil)
	each(c.waits(2, 20*time.Millisecond), there, leaderboard.ErrNotReplicated) // there is only one

	replica := c.ReplicaOf(c.Masters[0])
	replica.Pause()
	gone := here
	for i := 100; gone == here || c.ownerOf(gone) != c.Masters[0]; i++ {
		gone = guildNo(i)
	}
	loadGuild(t, s, gone, user1)
	each(s, gone, leaderboard.ErrNotReplicated)
	if m, err := s.Member(t.Context(), gone, user1); err != nil || m.XP != 102 {
		t.Errorf("the member has %d XP (%v), want 102 after both changes", m.XP, err)
	}
	replica.Resume()
}

// A master hangs with more changes than may wait for replicas at a time. Changes on other masters do not wait for them.
func TestAHangingMasterDelaysNoOtherMaster(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	s := c.waits(1, 10*time.Second)
	here, there := c.guildsOn(s)
	c.Masters[0].Pause()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var stuck sync.WaitGroup
	for range 40 {
		stuck.Go(func() {
			_, _ = s.Delete(pause.WithPatience(ctx, patience), here, nth(9), leaderboard.Removal{})
		})
	}
	for i := range 20 {
		created := leaderboard.Creation{XP: 1}
		if _, err := s.Create(pause.WithPatience(ctx, patience/3), there, nth(20+i), created); err != nil {
			t.Errorf("a change on another master: %v, want none", err)
			break
		}
	}
	c.Masters[0].Resume()
	stop()
	stuck.Wait()
}
