package redisconn_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// throughSentinels connects as a service does, with its timeouts.
func throughSentinels(t *testing.T, s *testenv.Sentinels, o redisconn.ConnectOptions) *redisconn.Client {
	t.Helper()
	if o.Sentinel == nil {
		o.Sentinel = &redisconn.SentinelOptions{Master: testenv.MasterName}
	}
	client, err := redisconn.Connect(s.URL(), o)
	ok(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestConformanceThroughSentinels(t *testing.T) {
	t.Parallel()
	ca := testenv.NewCA(t)
	s := testenv.NewSentinels(t, "watchers", testenv.WithPassword("servers"), testenv.WithTLS(ca, ca.Loopback()))
	client := throughSentinels(t, s, redisconn.ConnectOptions{
		Timeout: patience, TLS: clientTLS(t, ca),
		Sentinel: &redisconn.SentinelOptions{Master: testenv.MasterName, Password: "watchers"},
	})
	storetest.SmokeBoard(t, func(t *testing.T) storetest.Store {
		ok(t, client.FlushAll(t.Context()).Err())
		return newBoard(client)
	})
}

// A sentinel that hangs, and then one that is down, delay neither a new replica of the service nor a running one.
func TestFailingSentinelsDelayNothing(t *testing.T) {
	t.Parallel()
	s := testenv.NewSentinels(t, "")
	running := newBoard(throughSentinels(t, s, redisconn.ConnectOptions{}))
	ok(t, running.Ping(t.Context()))
	nudges := running.Nudges(t.Context())
	nudged(t, nudges, "when it is connected")
	works := func(when string) {
		t.Helper()
		fresh := newBoard(throughSentinels(t, s, redisconn.ConnectOptions{}))
		testenv.Wait(t, "a new client reaches the master "+when, func() bool { return fresh.Ping(t.Context()) == nil })
		testenv.Wait(t, "the old client reaches the master "+when, func() bool { return running.Ping(t.Context()) == nil })
		testenv.Wait(t, "the old client hears the new one "+when, func() bool {
			_ = fresh.Nudge(t.Context())
			select {
			case <-nudges:
				return true
			default:
				return false
			}
		})
	}
	s.Watchers[0].Pause()
	works("while a sentinel hangs")
	master := s.Servers[0]
	master.Kill()
	works("after a failover that one sentinel slept through")
	s.Watchers[0].Resume()
	works("when that sentinel is back")
	s.Watchers[1].Kill()
	works("while a sentinel is gone")
}

func TestUnknownMastersAndSentinelsAreErrors(t *testing.T) {
	t.Parallel()
	s := testenv.NewSentinels(t, "")
	store := newBoard(throughSentinels(t, s, redisconn.ConnectOptions{
		Sentinel: &redisconn.SentinelOptions{Master: "another"},
	}))
	if err := store.Ping(t.Context()); !errors.Is(err, redisconn.ErrUnknownMaster) {
		t.Errorf("Ping with an unknown master: %v, want ErrUnknownMaster", err)
	}
	for _, w := range s.Watchers {
		w.Kill()
	}
	if err := store.Ping(t.Context()); !errors.Is(err, redisconn.ErrSentinel) {
		t.Errorf("Ping without sentinels: %v, want ErrSentinel", err)
	}
}

// A network partition leaves the service with the old master, while the sentinels promote another on the other side. The old master has no
// replica, so it soon rejects changes. Changes on the new master survive the end of the partition.
func TestAPartitionedMasterRejectsChanges(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := testenv.NewSentinels(t, "", testenv.WithPassword("servers"), testenv.WithConfig("min-replicas-to-write 1", "min-replicas-max-lag 10"))
	store := newBoard(throughSentinels(t, s, redisconn.ConnectOptions{Timeout: 2 * time.Second}))
	s.InStep()
	load(t, store, row(user1))
	_, err := store.Change(ctx, guild1, user1, plusOne)
	ok(t, err)
	s.Settle()

	old := s.Servers[0]
	heal := s.Cut(old)
	testenv.Wait(t, "the old master rejects changes", func() bool {
		_, err := store.Change(ctx, guild1, user1, plusOne)
		return err != nil && strings.Contains(err.Error(), "NOREPLICAS")
	})
	now := s.Promoted(old)
	testenv.Wait(t, "the new master asks for the comparison", func() bool {
		_, err := store.Change(ctx, guild1, user1, plusOne)
		return errors.Is(err, leaderboard.ErrNotLoaded)
	})
	testenv.Wait(t, "the new master has a replica", func() bool {
		info, err := now.Ask("INFO", "replication")
		return err == nil && strings.Contains(info, "min_slaves_good_slaves:1")
	})
	load(t, store, row(user1))
	for range 25 {
		_, err := store.Change(ctx, guild1, user1, plusOne)
		ok(t, err)
	}
	heal()
	s.Settle()
	for range 25 {
		_, err := store.Change(ctx, guild1, user1, plusOne)
		ok(t, err)
	}
	s.InStep()
	for _, server := range []*testenv.RedisServer{now, old} {
		if xp := direct(t, server).ZScore(ctx, prefix+"xp", string(user1)).Val(); xp != 150 {
			t.Errorf("after 50 changes the member has %v XP on %s, want 150", xp, server.Addr())
		}
	}
}
