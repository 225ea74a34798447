package redisconn_test

import (
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// waitsFor is a store whose changes wait for one replica, as a service's do.
func waitsFor(t *testing.T, url string, timeout time.Duration) *board {
	t.Helper()
	return newBoard(connectWith(t, url, redisconn.ConnectOptions{Waiting: redisconn.Waiting{Replicas: 1, Timeout: timeout}}))
}

// everyChange makes a change of each kind and returns their errors.
func everyChange(t *testing.T, s *board, g leaderboard.GuildRef) []error {
	t.Helper()
	ctx := t.Context()
	_, changed := s.Change(ctx, g, user1, plusOne)
	named := plusOne
	named.Once = leaderboard.Once{Key: leaderboard.Digest{1, g.ID[len(g.ID)-1]}, Request: leaderboard.Digest{2}}
	_, namedOnce := s.Change(ctx, g, user1, named)
	_, created := s.Create(ctx, g, nth(5), leaderboard.Creation{XP: 5})
	_, _, awarded := s.Award(ctx, g, leaderboard.Awards{Members: []leaderboard.Award{{User: nth(6), Offers: []level.XP{7}}}})
	_, deleted := s.Delete(ctx, g, nth(5), leaderboard.Removal{})
	return []error{changed, namedOnce, created, awarded, deleted}
}

// A change that no replica has is made and is not acknowledged; what was refused, and what is read, waits for nobody.
func TestChangesWaitForReplicas(t *testing.T) {
	ctx := t.Context()
	server := quickMaster(t)
	s := waitsFor(t, server.URL(), 50*time.Millisecond)
	alone, together := guildNo(1), guildNo(2)
	loadGuild(t, s, alone, user1)
	loadGuild(t, s, together, user1)
	if n, err := s.client.Replicas(ctx); n != 0 || err != nil {
		t.Errorf("%d replicas, %v", n, err)
	}
	for i, err := range everyChange(t, s, alone) {
		if !errors.Is(err, leaderboard.ErrNotReplicated) {
			t.Errorf("change %d without a replica: %v, want ErrNotReplicated", i, err)
		}
	}
	if m, err := s.Member(ctx, alone, user1); err != nil || m.XP != 102 {
		t.Errorf("%d XP, %v, want both changes", m.XP, err)
	}
	if dirty, err := s.ChangedGuilds(ctx); err != nil || !slices.Contains(dirty, alone.ID) {
		t.Errorf("the changed guilds are %v, %v", dirty, err)
	}
	named := plusOne
	named.Once = leaderboard.Once{Key: leaderboard.Digest{3}, Request: leaderboard.Digest{4}}
	for _, c := range []leaderboard.Change{plusOne, named} {
		if _, err := s.Change(ctx, alone, nth(9), c); !errors.Is(err, leaderboard.ErrNoMember) {
			t.Errorf("a change of nobody: %v, want ErrNoMember", err)
		}
	}
	if _, err := s.Create(ctx, alone, user1, leaderboard.Creation{}); !errors.Is(err, leaderboard.ErrMemberExists) {
		t.Errorf("%v, want ErrMemberExists", err)
	}
	if _, err := s.Create(ctx, guildNo(3), user1, leaderboard.Creation{}); !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("%v, want ErrNotLoaded", err)
	}

	follow(t, direct(t, testenv.Redis(t)), server)
	if n, err := s.client.Replicas(ctx); n != 1 || err != nil {
		t.Errorf("%d replicas, %v", n, err)
	}
	s = waitsFor(t, server.URL(), 10*time.Second)
	testenv.Wait(t, "the replica tells how far it is", func() bool { _, err := s.Change(ctx, together, user1, plusOne); return err == nil })
	for i, err := range everyChange(t, s, together) {
		if err != nil {
			t.Errorf("change %d with a replica: %v", i, err)
		}
	}
}

// A change is repeated under its key: it was made, so it is not made again, and it is acknowledged once the replica has it.
func TestARepetitionWaitsForReplicasToo(t *testing.T) {
	ctx := t.Context()
	server, replica := quickMaster(t), testenv.Redis(t)
	s := waitsFor(t, server.URL(), 100*time.Millisecond)
	load(t, s, row(user1))
	follow(t, direct(t, replica), server)
	named := plusOne
	named.Once = leaderboard.Once{Key: leaderboard.Digest{1}, Request: leaderboard.Digest{2}}
	replica.Pause()
	for range 3 {
		if _, err := s.Change(ctx, guild1, user1, named); !errors.Is(err, leaderboard.ErrNotReplicated) {
			t.Errorf("%v while the replica hangs, want ErrNotReplicated", err)
		}
	}
	replica.Resume()
	var got leaderboard.Outcome
	testenv.Wait(t, "the replica has it", func() (done bool) {
		var err error
		got, err = s.Change(ctx, guild1, user1, named)
		return err == nil
	})
	if !got.Replayed || got.After != 101 {
		t.Errorf("%+v, want the first outcome", got)
	}
}

// While no replica answers, changes are refused one after the other, and reads continue.
func TestReadsGoOnWithoutReplicas(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := waitsFor(t, testenv.Redis(t).URL(), 200*time.Millisecond)
	load(t, s, row(user1), row(nth(2)))
	var work sync.WaitGroup
	var ended atomic.Bool
	for i := range 100 {
		work.Go(func() {
			for !ended.Load() {
				if i%2 == 0 {
					_, _ = s.Change(ctx, guild1, user1, plusOne)
				} else {
					_, _ = s.Delete(ctx, guild1, nth(2), leaderboard.Removal{})
				}
			}
		})
	}
	for range 50 {
		_, err := s.Member(ctx, guild1, user1)
		ok(t, err)
		_, err = s.Page(ctx, guild1, 0, 100, leaderboard.Digest{})
		ok(t, err)
	}
	ended.Store(true)
	work.Wait()
}

// The master dies under changes and its replica, which is always a little behind, takes over at once: all that was
// acknowledged is there, each time.
func TestAcknowledgedChangesSurviveTheMaster(t *testing.T) {
	t.Parallel()
	const rounds, members, behind = 6, 12, 15 * time.Millisecond
	server, replica := quickMaster(t), testenv.Redis(t)
	line := testenv.NewProxy(t, server.Addr())
	operator := direct(t, replica)
	host, port := split(t, line.Addr())
	for round := range rounds {
		if round > 0 {
			server.Start()
		}
		s := waitsFor(t, server.URL(), 400*time.Millisecond)
		var rows []snapshot.Row
		for i := range members {
			rows = append(rows, row(nth(i)))
		}
		load(t, s, rows...)
		ok(t, operator.ReplicaOf(t.Context(), host, port).Err())
		testenv.Wait(t, "the replica is in step", func() bool {
			return operator.InfoMap(t.Context(), "replication").Item("Replication", "master_link_status") == "up"
		})
		line.Slow(behind)
		acked := make([]atomic.Int64, members)
		var all atomic.Int64
		var work sync.WaitGroup
		for i := range members {
			work.Go(func() { change(t, s, nth(i), &acked[i], &all) })
		}
		testenv.Wait(t, "changes are made", func() bool { return all.Load() > members*10 })
		server.Kill()
		ok(t, operator.ReplicaOf(t.Context(), "NO", "ONE").Err())
		work.Wait()
		line.Slow(0)
		for i := range members {
			if xp := operator.ZScore(t.Context(), prefix+"xp", string(nth(i))).Val(); int64(xp) < 100+acked[i].Load() {
				t.Errorf("round %d: %v XP after %d changes that were acknowledged", round, xp, acked[i].Load())
			}
		}
	}
}

// change changes a member until the server is gone.
func change(t *testing.T, s *board, user id.User, acked, all *atomic.Int64) {
	for {
		_, err := s.Change(t.Context(), guild1, user, plusOne)
		var said redis.Error
		switch {
		case err == nil:
			acked.Add(1)
			all.Add(1)
		case errors.Is(err, leaderboard.ErrNotReplicated) && errors.As(err, &said):
			t.Errorf("WAIT: %v", err)
			return
		case !errors.Is(err, leaderboard.ErrNotReplicated):
			return
		case s.Ping(t.Context()) != nil:
			return
		}
	}
}

func split(t *testing.T, address string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	ok(t, err)
	return host, port
}

// quickMaster does not wait for more replicas before it gives one its data.
func quickMaster(t *testing.T) *testenv.RedisServer {
	t.Helper()
	return testenv.Redis(t, testenv.WithConfig("repl-diskless-sync-delay 0"))
}
