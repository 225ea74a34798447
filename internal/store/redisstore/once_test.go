package redisstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// named is plusOne with a name: the key, and what is asked.
func named(key string) leaderboard.Change {
	c := plusOne
	c.Once = leaderboard.Once{Key: leaderboard.DigestOf([]byte(key)), Request: leaderboard.DigestOf([]byte("plus one"))}
	return c
}

// onBothRedis runs the test on a Redis process and on the embedded one.
func onBothRedis(t *testing.T, test func(t *testing.T, client *redisconn.Client)) {
	t.Run("redis", func(t *testing.T) { test(t, connect(t, testenv.Redis(t).URL())) })
	t.Run("embedded", func(t *testing.T) {
		server, err := embedded.StartRedis()
		ok(t, err)
		t.Cleanup(server.Close)
		test(t, connect(t, server.URL()))
	})
}

// known names a request that the archive was asked for at an epoch, and does not know.
func known(key string, epoch int64) leaderboard.Change {
	c := named(key)
	c.Once.Past = &leaderboard.Past{Epoch: epoch}
	return c
}

// onceKeys are the key of the records and that of the one claim that there is.
func onceKeys(t *testing.T, client *redisconn.Client) (records, claim string) {
	t.Helper()
	claims := client.Keys(t.Context(), "lb:once:*").Val()
	if len(claims) != 1 {
		t.Fatalf("claims %v, want one", claims)
	}
	return prefix + "once", claims[0]
}

// recordIn is the field of the only record, and the record.
func recordIn(t *testing.T, client *redisconn.Client) (field, record string) {
	t.Helper()
	for name, text := range client.HGetAll(t.Context(), prefix+"once").Val() {
		if len(name) > 1 {
			field, record = name, text
		}
	}
	return field, record
}

func TestARequestIsRememberedForADay(t *testing.T) {
	const day = 24 * time.Hour
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		ctx := t.Context()
		s := redisstore.New(client, redisstore.Options{})
		load(t, s, row(user1))
		_, err := s.Change(ctx, guild1, user1, named("key"))
		ok(t, err)
		_, claim := onceKeys(t, client)
		lasts := func(key string, least, most time.Duration) {
			t.Helper()
			if ttl := client.PTTL(ctx, key).Val(); ttl < least || ttl > most {
				t.Errorf("%s expires in %v, want %v to %v", key, ttl, least, most)
			}
		}
		// Whenever a record is made, its guild has claimed the key for longer.
		lasts(claim, day+time.Second, day+time.Minute)
		ok(t, client.PExpire(ctx, claim, time.Hour).Err())
		o, err := s.Change(ctx, guild1, user1, named("key"))
		if err != nil || !o.Replayed {
			t.Errorf("again: %+v, %v, want a replay", o, err)
		}
		lasts(claim, day+time.Second, day+time.Minute)

		// A day from the change, not from when it was last asked for, it is forgotten; a younger one is not.
		field, record := recordIn(t, client)
		for _, age := range []time.Duration{day - time.Minute, day + time.Minute} {
			_, rest, _ := strings.Cut(record, " ")
			ok(t, client.HSet(ctx, prefix+"once", field, fmt.Sprint(time.Now().Add(-age).UnixMilli())+" "+rest).Err())
			ok(t, client.HSet(ctx, prefix+"meta", "since", 0).Err()) // the archive does not have it
			ok(t, client.HDel(ctx, prefix+"once", " ").Err())        // some time after the last pass
			more, err := s.Forget(ctx, []id.Guild{guild1.ID})
			if there := client.HExists(ctx, prefix+"once", field).Val(); err != nil || len(more) > 0 || there != (age < day) {
				t.Errorf("at an age of %v it is there: %v; %v, %v", age, there, more, err)
			}
		}
		o, err = s.Change(ctx, guild1, user1, named("key"))
		if want := (leaderboard.Outcome{Before: 101, After: 102}); err != nil || o != want {
			t.Errorf("after a day: %+v, %v, want %+v", o, err, want)
		}
	})
}

// A request without a name costs one script on the five keys that it always had.
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
		t.Errorf("one change is not one script:\n%s", stats)
	}
	for _, command := range []string{"get", "set", "exists"} {
		if strings.Contains(stats, "cmdstat_"+command+":") {
			t.Errorf("a change without a name ran %s:\n%s", command, stats)
		}
	}
}

// Whichever reply is lost, the same request again has the outcome of the first.
func TestALostReplyToANamedRequest(t *testing.T) {
	ctx := t.Context()
	server := testenv.Redis(t)
	load(t, redisstore.New(connect(t, server.URL()), redisstore.Options{}), row(user1))
	proxy := testenv.NewProxy(t, server.Addr())
	s := redisstore.New(connect(t, "redis://"+proxy.Addr()), redisstore.Options{})
	_, err := s.Change(ctx, guild1, user1, named("so that the server knows the scripts"))
	ok(t, err)
	for i, c := range []struct {
		name     string
		faults   []testenv.Fault
		replayed bool
	}{
		{"of the claim", []testenv.Fault{testenv.NoReply}, false},
		{"half of the claim's", []testenv.Fault{testenv.HalfAReply}, false},
		{"of the change", []testenv.Fault{testenv.NoFault, testenv.NoReply}, true},
		{"half of the change's", []testenv.Fault{testenv.NoFault, testenv.HalfAReply}, true},
		{"the request itself", []testenv.Fault{testenv.NoFault, testenv.NotSent}, false},
	} {
		proxy.Next(c.faults...)
		if o, err := s.Change(ctx, guild1, user1, named(c.name)); err == nil {
			t.Errorf("%s: %+v, want an error", c.name, o)
		}
		if n := proxy.Requests(); n != int64(len(c.faults)) {
			t.Errorf("%s: %d requests were sent, want %d", c.name, n, len(c.faults))
		}
		xp := level.XP(101 + i)
		want := leaderboard.Outcome{Before: xp, After: xp + 1, Replayed: c.replayed}
		if o, err := s.Change(ctx, guild1, user1, named(c.name)); err != nil || o != want {
			t.Errorf("%s: again %+v, %v, want %+v", c.name, o, err, want)
		}
	}
}

func TestDamagedRecord(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s, row(user1))
	_, err := s.Change(ctx, guild1, user1, named("key"))
	ok(t, err)
	field, good := recordIn(t, client)
	for _, bad := range []string{"", "77", good[:len(good)-len("100 101 0")], strings.TrimSuffix(good, " 0"), good[:len(good)-1] + "x"} {
		ok(t, client.HSet(ctx, prefix+"once", field, bad).Err())
		if o, err := s.Change(ctx, guild1, user1, named("key")); err == nil || errors.Is(err, leaderboard.ErrKeyReused) {
			t.Errorf("record %q: %+v, %v, want a failure", bad, o, err)
		}
	}
	if m, err := s.Member(ctx, guild1, user1); err != nil || m.XP != 101 {
		t.Errorf("%d XP (%v), want 101", m.XP, err)
	}
}
