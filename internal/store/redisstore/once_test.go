package redisstore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// named returns plusOne under an idempotency key.
func named(key string) leaderboard.Change {
	c := plusOne
	c.Once = leaderboard.Once{Key: leaderboard.DigestOf([]byte(key)), Request: leaderboard.DigestOf([]byte("plus one"))}
	return c
}

// onBothRedis runs the test on a Redis process and on the embedded Redis.
func onBothRedis(t *testing.T, test func(t *testing.T, client *redisconn.Client)) {
	t.Run("redis", func(t *testing.T) { test(t, connect(t, testenv.Redis(t).URL())) })
	t.Run("embedded", func(t *testing.T) {
		server, err := embedded.StartRedis()
		ok(t, err)
		t.Cleanup(server.Close)
		test(t, connect(t, server.URL()))
	})
}

// known returns a named request of which the archive, read at that epoch, has no record.
func known(key string, epoch int64) leaderboard.Change {
	c := named(key)
	c.Once.Past = &leaderboard.Past{Epoch: epoch}
	return c
}

// recordKey returns the key of the only record of a request, and its text.
func recordKey(t *testing.T, client *redisconn.Client) (key, record string) {
	t.Helper()
	keys := client.Keys(t.Context(), prefix+"once:*").Val()
	if len(keys) != 1 {
		t.Fatalf("the records are %v, want one", keys)
	}
	return keys[0], client.Get(t.Context(), keys[0]).Val()
}

// A record expires OnceTTL after its change. A repeat does not extend it.
func TestARecordExpiresAsConfigured(t *testing.T) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		ctx := t.Context()
		for told, want := range map[time.Duration]time.Duration{0: leaderboard.OnceTTL, 3 * time.Hour: 3 * time.Hour} {
			s := redisstore.New(client, redisstore.Options{OnceTTL: told})
			load(t, s, row(user1))
			_, err := s.Change(ctx, guild1, user1, named("key"))
			ok(t, err)
			key, _ := recordKey(t, client)
			if ttl := client.PTTL(ctx, key).Val(); ttl < want-time.Minute || ttl > want {
				t.Errorf("with %v configured a record expires in %v, want %v", told, ttl, want)
			}
			ok(t, client.PExpire(ctx, key, time.Hour).Err())
			if o, err := s.Change(ctx, guild1, user1, named("key")); err != nil || !o.Replayed {
				t.Errorf("the repeat: %+v (%v), want a replay", o, err)
			}
			if ttl := client.PTTL(ctx, key).Val(); ttl > time.Hour {
				t.Errorf("the repeat extends the record to %v", ttl)
			}
			ok(t, client.Del(ctx, key).Err()) // as if expired
			if o, err := s.Change(ctx, guild1, user1, named("key")); err != nil || o != (leaderboard.Outcome{Before: 101, After: 102}) {
				t.Errorf("the request after the expiry: %+v (%v), want it made", o, err)
			}
			ok(t, s.Drop(ctx, guild1))
			ok(t, client.Del(ctx, key).Err())
		}
	})
}

// A request without a name costs one script, and reads no record.
func TestARequestWithoutANameReadsNoRecord(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s, row(user1))
	_, err := s.Change(ctx, guild1, user1, plusOne)
	ok(t, err)
	ok(t, client.ConfigResetStat(ctx).Err())
	_, err = s.Change(ctx, guild1, user1, plusOne)
	ok(t, err)
	stats := client.Info(ctx, "commandstats").Val()
	if !strings.Contains(stats, "cmdstat_evalsha:calls=1,") {
		t.Errorf("one change did not run one script:\n%s", stats)
	}
	for _, command := range []string{"get", "set", "exists"} {
		if strings.Contains(stats, "cmdstat_"+command+":") {
			t.Errorf("a change without a name ran %s:\n%s", command, stats)
		}
	}
}

func TestADamagedRecordIsAnError(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s, row(user1))
	_, err := s.Change(ctx, guild1, user1, named("key"))
	ok(t, err)
	key, good := recordKey(t, client)
	for _, bad := range []string{"", "77", good[:len(good)-len("100 101 0")], strings.TrimSuffix(good, " 0"), good[:len(good)-1] + "x"} {
		ok(t, client.Set(ctx, key, bad, time.Hour).Err())
		if o, err := s.Change(ctx, guild1, user1, named("key")); err == nil || errors.Is(err, leaderboard.ErrKeyReused) {
			t.Errorf("with the record %q the request gives %+v (%v), want an error other than ErrKeyReused", bad, o, err)
		}
	}
	if m, err := s.Member(ctx, guild1, user1); err != nil || m.XP != 101 {
		t.Errorf("the member has %d XP (%v), want 101", m.XP, err)
	}
}
