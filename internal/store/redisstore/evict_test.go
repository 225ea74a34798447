package redisstore_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

const meta = prefix + "meta"

// flushed archives guild1 as a writer does, and returns the rev.
func flushed(t *testing.T, s *redisstore.Store) int64 {
	t.Helper()
	if b := changesOf(t, s, guild1, 10); len(b.Rows) > 0 {
		ended(t, s, b)
	}
	v, err := s.Version(t.Context(), guild1)
	ok(t, err)
	return v.Rev
}

// aged sets guild1's last use to two hours ago.
func aged(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	ok(t, client.HSet(t.Context(), meta, "used", time.Now().Add(-2*time.Hour).UnixMilli()).Err())
}

// leaves evicts guild1 at the epoch.
func leaves(t *testing.T, client redis.UniversalClient, s *redisstore.Store, epoch int64) snapshot.State {
	t.Helper()
	state := snapshot.State{Epoch: epoch, Archived: flushed(t, s)}
	aged(t, client)
	if gone, err := s.Evict(t.Context(), snapshot.Quiet{Guild: guild1, State: state}, time.Hour); err != nil || !gone {
		t.Fatalf("evicting the guild: %v (%v), want true", gone, err)
	}
	return state
}

// loads hydrates guild1 at an epoch.
func loads(t *testing.T, s *redisstore.Store, state snapshot.State) {
	t.Helper()
	h, _, err := s.BeginHydration(t.Context(), guild1, state)
	ok(t, err)
	ok(t, s.LoadChunk(t.Context(), h, []snapshot.Row{row(user1)}))
	ok(t, s.CommitHydration(t.Context(), h, state))
}

// An evicted guild leaves only keys that expire.
func TestAnEvictedGuildLeavesOnlyKeysThatExpire(t *testing.T) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		s := redisstore.New(client, redisstore.Options{})
		load(t, s, row(user1))
		once := up
		once.Once = named("key").Once
		_, err := s.Change(t.Context(), guild1, user1, once)
		ok(t, err)
		_, err = s.ChangedGuilds(t.Context())
		ok(t, err)
		_, err = s.TakeEventful(t.Context())
		ok(t, err)
		record, _ := recordKey(t, client)
		leaves(t, client, s, 1)
		log, mark := prefix+"events:77", prefix+"evicted"
		if got, want := keyTypes(t, client), map[string]string{record: "string", mark: "string", log: "stream"}; !maps.Equal(got, want) {
			t.Errorf("the keys left are %v, want %v", got, want)
		}
		for _, key := range []string{record, mark, log} {
			if client.PTTL(t.Context(), key).Val() <= 0 {
				t.Errorf("the key %s never expires", key)
			}
		}
	})
}

// An eviction loses no event of the guild's log. Any other absence counts as a loss.
func TestTheLogOfAnEvictedGuildIsWhole(t *testing.T) {
	withLog(t, func(t *testing.T, s *redisstore.Store) {
		client := s.Client()
		_, err := s.Create(t.Context(), guild1, user1, leaderboard.Creation{XP: 150, Curve: &level.Curve{}})
		ok(t, err)
		l := logOf(t, s)
		want := func(when string, lost bool) {
			t.Helper()
			got := l.Next()
			if slices.ContainsFunc(got, func(e events.Entry) bool { return e.Reset != "" }) != lost {
				t.Errorf("%s the log has %v, want a gap: %v", when, got, lost)
			}
			for _, e := range got {
				if e.User != "" {
					t.Errorf("%s the log has the new event %+v", when, e)
				}
			}
		}
		state := leaves(t, client, s, 1)
		state.Epoch = 2
		loads(t, s, state)
		want("after a load", false)
		if x, err := s.Extent(t.Context(), guild1); err != nil || x.Count < 2 {
			t.Errorf("the log's extent is %+v (%v), want 2 events or more", x, err)
		}

		state = leaves(t, client, s, 2)
		state.Epoch = 4 // another Redis loaded the guild in between
		loads(t, s, state)
		want("after a second load", true)

		state = leaves(t, client, s, 4)
		ok(t, client.XAdd(t.Context(), &redis.XAddArgs{Stream: prefix + "events:77", Values: []string{"e", "4", "s", "another server"}}).Err())
		state.Epoch = 5
		loads(t, s, state)
		want("on another server", true)
	})
}

// A guild with work in progress is not evicted, however long it was idle.
func TestAGuildWithWorkInProgressIsNotEvicted(t *testing.T) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		s := redisstore.New(client, redisstore.Options{})
		load(t, s, row(user1))
		aged(t, client)
		cold := snapshot.Quiet{Guild: guild1, State: snapshot.State{Epoch: 1}}
		for _, c := range []struct{ what, undo []any }{
			{[]any{"hset", meta, "pending", 5}, []any{"hdel", meta, "pending"}},
			{[]any{"zadd", prefix + "dirty", 1, string(user1)}, []any{"zrem", prefix + "dirty", string(user1)}},
			{[]any{"xadd", prefix + "journal", "*", "n", ""}, []any{"xtrim", prefix + "journal", "maxlen", 0}},
			{[]any{"set", prefix + "hydrating", "77-token"}, []any{"del", prefix + "hydrating"}},
			{[]any{"hset", meta, "archived", -1}, []any{"hset", meta, "archived", 0}},
			{[]any{"hset", meta, "server", "another"}, nil},
		} {
			ok(t, client.Do(t.Context(), c.what...).Err())
			if gone, err := s.Evict(t.Context(), cold, time.Hour); err != nil || gone {
				t.Fatalf("with %v the guild was evicted: %v (%v)", c.what, gone, err)
			}
			seen, err := s.Survey(t.Context(), []id.Guild{guild1.ID}, time.Hour)
			if err != nil || len(seen.Cold) > 0 {
				t.Errorf("with %v the guild counts as cold (%v)", c.what, err)
			}
			if unverified := slices.Contains(c.what, any("server")); unverified != slices.Equal(seen.Unverified, []id.Guild{guild1.ID}) {
				t.Errorf("with %v the survey returns %+v, want the guild unverified: %v", c.what, seen, unverified)
			}
			if c.undo != nil {
				ok(t, client.Do(t.Context(), c.undo...).Err())
			}
		}
	})
}

// A damaged guild does not hide others from the survey.
func TestADamagedGuildHidesNoOther(t *testing.T) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		s := redisstore.New(client, redisstore.Options{})
		load(t, s, row(user1))
		aged(t, client)
		const damaged id.Guild = "100000000000000009"
		ok(t, client.Set(t.Context(), strings.Replace(meta, string(guild1.ID), string(damaged), 1), "x", 0).Err())
		seen, err := s.Survey(t.Context(), []id.Guild{damaged, guild1.ID}, time.Hour)
		if err != nil || !slices.Equal(seen.Changed, []id.Guild{damaged}) || len(seen.Cold) != 1 || seen.Cold[0].Guild != guild1 {
			t.Errorf("the survey returns %+v (%v), want %s changed and %v cold", seen, err, damaged, guild1)
		}
	})
}
