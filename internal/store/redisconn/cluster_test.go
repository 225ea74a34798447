package redisconn_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// verify loads guild1, or verifies it against an empty archive if it is loaded. If the lock is lost it begins again, as the service does,
// because a promoted replica counts as another run of the server.
func verify(t *testing.T, c *redisconn.Client, rows ...snapshot.Row) {
	t.Helper()
	s := newBoard(c)
	testenv.Wait(t, "the guild is verified", func() (verified bool) {
		epoch, err := c.HGet(t.Context(), prefix+"meta", "epoch").Int64()
		if err != nil && !errors.Is(err, redis.Nil) {
			return false
		}
		h, found, err := s.BeginHydration(t.Context(), guild1, snapshot.State{Epoch: epoch})
		if err != nil {
			return false
		}
		switch found {
		case hydrate.FoundLoaded:
		case hydrate.FoundBusy:
			return false
		case hydrate.FoundUnverified:
			err = s.Verified(t.Context(), h, snapshot.State{Epoch: epoch + 1})
		case hydrate.FoundNothing:
			if err = s.LoadChunk(t.Context(), h, rows); err == nil {
				err = s.CommitHydration(t.Context(), h, snapshot.State{Epoch: 1})
			}
		default:
			t.Fatalf("the hydration found %v", found)
		}
		if !errors.Is(err, hydrate.ErrLost) {
			ok(t, err)
		}
		return err == nil
	})
}

func wantXP(t *testing.T, s *board, want int) {
	t.Helper()
	if m, err := s.Member(t.Context(), guild1, user1); err != nil || int(m.XP) != want {
		t.Errorf("the member has %d XP (%v), want %d", m.XP, err, want)
	}
}

// The store finds every guild on its master, and every changed guild is in the index.
func guildsOfAllMasters(t *testing.T, c *clustered) {
	ctx := t.Context()
	s := newBoard(c.client)
	var want []id.Guild
	owners := map[*testenv.RedisServer]bool{}
	for i := range 12 {
		g := guildNo(i)
		loadGuild(t, s, g, nth(1))
		_, err := s.Change(ctx, g, nth(1), plus(1))
		ok(t, err)
		want = append(want, g.ID)
		owners[c.Owner(c.SlotOf("{"+string(g.ID)+"}"))] = true
	}
	if len(owners) != len(c.Masters) {
		t.Errorf("the guilds are on %d masters, want all %d", len(owners), len(c.Masters))
	}
	slices.Sort(want)
	loaded, err := s.LoadedGuilds(ctx)
	if slices.Sort(loaded); err != nil || !slices.Equal(loaded, want) {
		t.Errorf("the loaded guilds are %v (%v), want %v", loaded, err, want)
	}
	if b, err := s.Backlog(ctx, nil); err != nil || b.Members != int64(len(want)) {
		t.Errorf("the backlog is %+v (%v), want %d members", b, err, len(want))
	}
	dirty, err := s.ChangedGuilds(ctx)
	if slices.Sort(dirty); err != nil || !slices.Equal(dirty, want) {
		t.Errorf("the changed guilds are %v (%v), want %v", dirty, err, want)
	}
}

func nudgeOverACluster(t *testing.T, c *clustered) {
	s, other := newBoard(c.client), newBoard(connectCluster(t, c.URL()))
	nudges := other.Nudges(t.Context())
	<-nudges // connected
	heard := make(chan struct{})
	go func() { defer close(heard); <-nudges }()
	testenv.Wait(t, "the nudge arrives", func() bool {
		ok(t, s.Nudge(t.Context()))
		select {
		case <-heard:
			return true
		case <-time.After(10 * time.Millisecond):
			return false
		}
	})
}

// The error for an invalid URL says which form is expected.
func TestInvalidURLsOfAClusterAreExplained(t *testing.T) {
	for _, url := range []string{
		"", "h1:1,h2:2", "unix:///run/redis.sock", "redis://h1:1,h2:2/1", "redis://:pw@/0", "redis://h1:1,:2/0", "redis://h1:1,h2:2/0?db=3",
		"http://h1:1,h2:2",
	} {
		if client, err := redisconn.Connect(url, redisconn.ConnectOptions{Cluster: true}); !errors.Is(err, redisconn.ErrClusterURL) {
			t.Errorf("the URL %q: %v, want ErrClusterURL", url, err)
			if err == nil {
				_ = client.Close()
			}
		}
	}
}

// All nodes get the same user, password and number of connections.
func TestAllNodesOfAClusterHaveItsOptions(t *testing.T) {
	client, err := redisconn.Connect("rediss://ada:p%40ss@h1:1,h2,[::1]:3/0?pool_size=9", redisconn.ConnectOptions{Cluster: true})
	ok(t, err)
	defer client.Close()
	opts := client.NodeOptions("h7:7")
	if opts.Addr != "h7:7" || opts.Username != "ada" || opts.Password != "p@ss" || opts.PoolSize != 9 || opts.MaxRetries > 0 {
		t.Errorf("the node's options are %+v, want the user, the password and 9 connections", opts)
	}
}

// A single server used as a cluster is an error, not an empty board.
func TestASingleServerUsedAsAClusterIsAnError(t *testing.T) {
	s := newBoard(connectCluster(t, testenv.Redis(t).URL()))
	if _, err := s.Version(t.Context(), guild1); err == nil || errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("reading a version: %v, want an error other than ErrNotLoaded", err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("Ping succeeds on a server that is no cluster")
	}
}
