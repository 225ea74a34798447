package redisconn_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

// hangingHosts take connections and never answer.
func hangingHosts(t *testing.T, n int) []string {
	t.Helper()
	var hosts []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ok(t, err)
		t.Cleanup(func() { _ = l.Close() })
		hosts = append(hosts, l.Addr().String())
	}
	return hosts
}

// Hosts of the URL that hang are asked beside each other, so one that answers is soon found; and when none does, nobody waits for
// longer than he is patient.
func TestHostsOfAClusterThatHang(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	for name, wait := range map[string]struct {
		patience time.Duration
		works    bool
	}{"one answers": {8 * time.Second, true}, "none answers": {300 * time.Millisecond, false}} {
		t.Run(name, func(t *testing.T) {
			hosts := hangingHosts(t, 60)
			if wait.works {
				hosts = append(hosts, c.Masters[0].Addr())
			}
			url := strings.Replace(c.Masters[0].URL(), c.Masters[0].Addr(), strings.Join(hosts, ","), 1)
			client, err := redisconn.Connect(url, redisconn.ConnectOptions{Cluster: true})
			ok(t, err)
			defer client.Close()
			// One after the other they take 12 seconds and more.
			ctx, cancel := context.WithTimeout(pause.WithPatience(t.Context(), wait.patience), 8*time.Second)
			defer cancel()
			_, err = newBoard(client).Version(ctx, guild1)
			if errors.Is(err, leaderboard.ErrNotLoaded) != wait.works || err == nil {
				t.Errorf("version: %v", err)
			}
			if ctx.Err() != nil {
				t.Error("it took as long as all of them together")
			}
		})
	}
}

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
	eventually(t, "the last master serves nothing", func() bool {
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

// An answer that sends to another node need not name its host: it is that of the one who answered.
func TestARedirectWithoutAHost(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{":7002": "h1:7002", "h2:7002": "h2:7002", "h2:0": "h2:7001", ":0": "h1:7001", "[::1]:7": "[::1]:7", "odd": "odd"} {
		if got := redisconn.CompleteAddress(from, "h1:7001"); got != want {
			t.Errorf("%s is %s, want %s", from, got, want)
		}
	}
}
