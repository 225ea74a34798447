package redisconn_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// waitsFor returns a store whose changes wait for one replica.
func waitsFor(t *testing.T, url string, timeout time.Duration) *board {
	t.Helper()
	return newBoard(connectWith(t, url, redisconn.ConnectOptions{Waiting: redisconn.Waiting{Replicas: 1, Timeout: timeout}}))
}

// everyChange makes a change of each kind and returns the errors.
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

// A change that no replica has is made and not acknowledged. Refusals and reads do not wait for replicas.
func TestChangesWaitForReplicas(t *testing.T) {
	ctx := t.Context()
	server := quickMaster(t)
	s := waitsFor(t, server.URL(), 50*time.Millisecond)
	alone, together := guildNo(1), guildNo(2)
	loadGuild(t, s, alone, user1)
	loadGuild(t, s, together, user1)
	if n, err := s.client.Replicas(ctx); n != 0 || err != nil {
		t.Errorf("the master has %d replicas (%v), want 0", n, err)
	}
	for i, err := range everyChange(t, s, alone) {
		if !errors.Is(err, leaderboard.ErrNotReplicated) {
			t.Errorf("change %d without a replica: %v, want ErrNotReplicated", i, err)
		}
	}
	if m, err := s.Member(ctx, alone, user1); err != nil || m.XP != 102 {
		t.Errorf("the member has %d XP (%v), want 102 after both changes", m.XP, err)
	}
	if dirty, err := s.ChangedGuilds(ctx); err != nil || !slices.Contains(dirty, alone.ID) {
		t.Errorf("the changed guilds are %v (%v), want %s among them", dirty, err, alone.ID)
	}
	named := plusOne
	named.Once = leaderboard.Once{Key: leaderboard.Digest{3}, Request: leaderboard.Digest{4}}
	for _, c := range []leaderboard.Change{plusOne, named} {
		if _, err := s.Change(ctx, alone, nth(9), c); !errors.Is(err, leaderboard.ErrNoMember) {
			t.Errorf("a change of an unknown member: %v, want ErrNoMember", err)
		}
	}
	if _, err := s.Create(ctx, alone, user1, leaderboard.Creation{}); !errors.Is(err, leaderboard.ErrMemberExists) {
		t.Errorf("creating an existing member: %v, want ErrMemberExists", err)
	}
	if _, err := s.Create(ctx, guildNo(3), user1, leaderboard.Creation{}); !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("creating in a guild that is not loaded: %v, want ErrNotLoaded", err)
	}

	follow(t, direct(t, testenv.Redis(t)), server)
	if n, err := s.client.Replicas(ctx); n != 1 || err != nil {
		t.Errorf("the master has %d replicas (%v), want 1", n, err)
	}
	s = waitsFor(t, server.URL(), patience/2)
	testenv.Wait(t, "the replica tells how far it is", func() bool { _, err := s.Change(ctx, together, user1, plusOne); return err == nil })
	for i, err := range everyChange(t, s, together) {
		if err != nil {
			t.Errorf("change %d with a replica: %v, want no error", i, err)
		}
	}
}

// A repeat of a change that was made is not made again, and is acknowledged once the replica has the change.
func TestARepeatWaitsForReplicasToo(t *testing.T) {
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
			t.Errorf("a change while the replica hangs: %v, want ErrNotReplicated", err)
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
		t.Errorf("the repeat is %+v, want a replay with 101 XP", got)
	}
}

// While no replica answers, each change fails, and reads continue.
func TestReadsContinueWithoutReplicas(t *testing.T) {
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
		_, err = s.Page(ctx, guild1, 0, 100)
		ok(t, err)
	}
	ended.Store(true)
	work.Wait()
}

// quickMaster returns a server that sends data to a new replica at once, and does not wait for others.
func quickMaster(t *testing.T) *testenv.RedisServer {
	t.Helper()
	return testenv.Redis(t, testenv.WithConfig("repl-diskless-sync-delay 0"))
}
