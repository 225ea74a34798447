package redisconn_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// lag disconnects a replica from its master, so that the replica's data no longer changes.
func (c *clustered) lag(replica *testenv.RedisServer, password string) {
	c.Helper()
	c.ask(replica, "CONFIG", "SET", "masterauth", password)
	c.ask(replica, "CLIENT", "KILL", "TYPE", "master")
}

func (c *clustered) ask(s *testenv.RedisServer, words ...string) string {
	c.Helper()
	answer, err := s.Ask(words...)
	ok(c.T, err)
	return answer
}

// follows waits until a node is a replica that is up to date.
func (c *clustered) follows(s *testenv.RedisServer) {
	c.Helper()
	testenv.Wait(c.T, "the node follows its master", func() bool {
		info := c.ask(s, "INFO", "replication")
		return strings.Contains(info, "role:slave") && strings.Contains(info, "master_link_status:up")
	})
}

// takeOver promotes a replica without telling the old master.
func (c *clustered) takeOver(slot int, s *testenv.RedisServer) {
	c.Helper()
	c.ask(s, "CLUSTER", "FAILOVER", "TAKEOVER")
	testenv.Wait(c.T, "the node has taken over", func() bool { return c.Owner(slot) == s })
}

// A lagging replica is promoted, and the old master copies its older data and is promoted again: the same process with the same
// connections. No client may use the guild there, even a client that noticed only a part of this.
func TestAMasterPromotedAgainIsVerified(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClustered(t)
	idle, busy := connectCluster(t, c.URL()), connectCluster(t, c.URL())
	s, other := newBoard(idle), newBoard(busy)
	load(t, s, row(user1))
	_, err := other.Version(ctx, guild1)
	ok(t, err)
	slot := c.SlotOf(prefix + "meta")
	master := c.Owner(slot)
	replica := c.ReplicaOf(master)
	testenv.Wait(t, "the replica has the guild", func() bool {
		return strings.Contains(c.ask(replica, "INFO", "replication"), "slave_repl_offset") && c.ask(replica, "DBSIZE") == c.ask(master, "DBSIZE")
	})
	c.lag(replica, "wrong")
	testenv.Wait(t, "the replica has lost its master", func() bool {
		return strings.Contains(c.ask(replica, "INFO", "replication"), "master_link_status:down")
	})
	for range 3 {
		_, err := s.Change(ctx, guild1, user1, plusOne)
		ok(t, err)
	}

	c.takeOver(slot, replica)
	c.follows(master)
	c.ask(replica, "CONFIG", "SET", "masterauth", "p@ss:w/rd")
	// The first client uses the guild there.
	testenv.Wait(t, "the replica is found", func() bool {
		_, err := other.Version(ctx, guild1)
		return errors.Is(err, leaderboard.ErrNotLoaded)
	})
	c.takeOver(slot, master)
	c.follows(replica)

	testenv.Wait(t, "the master is found again, and not trusted", func() bool {
		_, err := other.Change(ctx, guild1, user1, plusOne)
		if err == nil {
			t.Fatal("a change was made on older data")
		}
		return errors.Is(err, leaderboard.ErrNotLoaded)
	})
	// The other client noticed nothing, but checks the masters from time to time.
	idle.Look(ctx)
	if _, err := s.Change(ctx, guild1, user1, plusOne); !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a change on older data: %v, want ErrNotLoaded", err)
	}
	verify(t, c.client)
	wantXP(t, s, 100)
}

// The service is ready as long as most masters answer, and finds a promoted replica by itself.
func TestAClusterOutlivesAMaster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClustered(t)
	s := newBoard(c.client)
	nudged := newBoard(connectCluster(t, c.URL()))
	nudges := nudged.Nudges(ctx)
	<-nudges
	load(t, s, row(user1))
	ok(t, s.Ping(ctx))
	channel := c.SlotOf("lb:changes")
	first := c.Owner(channel)
	first.Kill()
	ok(t, s.Ping(ctx))
	if told := toldBy(t, c.client); told["up"] != 0 {
		t.Errorf("with a dead master the metrics are %v, want up 0", told)
	}
	if next := c.Owner(channel); next != c.ReplicaOf(first) {
		t.Error("another node than the dead master's replica was promoted")
	}
	testenv.Wait(t, "every master answers", func() bool { return toldBy(t, c.client)["up"] == 1 })
	testenv.Wait(t, "nudges arrive again", func() bool {
		_ = s.Nudge(ctx)
		select {
		case <-nudges:
			return true
		default:
			return false
		}
	})

	// The loss of two of three masters and one's replica is too much.
	for _, master := range c.Masters {
		if master != first {
			master.Pause()
		}
	}
	if err := s.Ping(pause.WithPatience(ctx, 200*time.Millisecond)); err == nil {
		t.Error("Ping succeeds with one master of three")
	}
	for _, master := range c.Masters {
		if master != first {
			master.Resume()
		}
	}
}
