package redisstore_test

import (
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/signin"
	"levelboard/internal/usecase/snapshot"
)

// While the memory is full, earlier changes are still archived and idle guilds evicted, which frees memory.
func TestAFullRedisCanBeEmptied(t *testing.T) {
	ctx := t.Context()
	full := func(t *testing.T, prepare func(s *redisstore.Store)) *redisstore.Store {
		server := testenv.Redis(t)
		s := redisstore.New(connect(t, server.URL()), redisstore.Options{})
		load(t, s, row(user1))
		prepare(s)
		t.Cleanup(server.FillMemory())
		return s
	}
	change := func(s *redisstore.Store) {
		_, err := s.Change(ctx, guild1, user1, leaderboard.Change{Op: leaderboard.Increment, Amount: 50, Curve: &level.Curve{}})
		ok(t, err)
	}
	archived := func(t *testing.T, s *redisstore.Store) {
		t.Helper()
		if got := s.Client().HGet(ctx, meta, "archived").Val(); got != "1" {
			t.Errorf("the archived rev is %s, want 1", got)
		}
		if b := changesOf(t, s, guild1, 10); len(b.Rows) > 0 {
			t.Errorf("changes still wait: %+v", b)
		}
	}
	t.Run("a guild is archived", func(t *testing.T) {
		s := full(t, change)
		if ended(t, s, changesOf(t, s, guild1, 10)) {
			t.Error("more changes wait, want none")
		}
		archived(t, s)
	})
	t.Run("a member is removed", func(t *testing.T) {
		s := full(t, func(*redisstore.Store) {})
		_, err := s.Delete(ctx, guild1, user1, leaderboard.Removal{})
		ok(t, err)
		flushed(t, s)
		archived(t, s)
	})
	t.Run("a guild is evicted, and its log is whole", func(t *testing.T) {
		var state snapshot.State
		s := full(t, func(s *redisstore.Store) {
			change(s)
			state = snapshot.State{Epoch: 1, Archived: flushed(t, s)}
			aged(t, s.Client())
		})
		if gone, err := s.Evict(ctx, snapshot.Quiet{Guild: guild1, State: state}, time.Hour); err != nil || !gone {
			t.Fatalf("evicting the guild: %v (%v), want true", gone, err)
		}
		last := s.Client().XRevRangeN(ctx, prefix+"events:77", "+", "-", 1).Val()
		if len(last) != 1 || last[0].Values["e"] != "1" {
			t.Errorf("the log's last entry is %v, want the eviction", last)
		}
	})
	t.Run("a guild in use stays", func(t *testing.T) {
		s := full(t, func(s *redisstore.Store) { aged(t, s.Client()) })
		ok(t, s.NoteUses(ctx, []id.Guild{guild1.ID}))
		if seen, err := s.Survey(ctx, []id.Guild{guild1.ID}, time.Hour); err != nil || len(seen.Cold) > 0 {
			t.Errorf("the survey returns %+v (%v), want no cold guild", seen, err)
		}
	})
}

// A signed-in user can still read, with an unchanged session.
func TestSessionsAreReadWhileRedisRefusesWrites(t *testing.T) {
	for _, refusal := range testenv.Refusals {
		t.Run(refusal.Name, func(t *testing.T) {
			server := testenv.Redis(t)
			s := redisstore.New(connect(t, server.URL()), redisstore.Options{})
			kept := signin.Kept{Hash: signin.Hash{1}, User: user1, Sealed: []byte("x"), Ends: time.Now().Add(time.Hour)}
			ok(t, s.PutSession(t.Context(), kept, time.Hour, signin.PutOptions{Limit: 3, Now: time.Now()}))
			defer server.Refuse(refusal)()
			if claimed, err := s.ClaimSession(t.Context(), kept.Hash, time.Minute); claimed || err != nil {
				t.Errorf("claiming the session: %v (%v), want false without an error", claimed, err)
			}
			if sealed, err := s.Session(t.Context(), kept.Hash); err != nil || string(sealed) != "x" {
				t.Errorf("the session is %q (%v), want x", sealed, err)
			}
		})
	}
}
