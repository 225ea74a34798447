package app_test

import (
	"log/slog"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// A service that is to wait for a replica which is not there says so at the start, and to who changes something. What
// changed is there, and repeating it under its key changes nothing more.
func TestReplicasThatAreMissing(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, testenv.WithConfig("repl-diskless-sync-delay 0"))
	replica := testenv.Redis(t) // there until the service has stopped, whose last snapshot waits as well
	log := &testenv.Log{}
	s := run(t, newLogging(t, slog.NewTextHandler(log, nil), "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t),
		"LEVELBOARD_REDIS_WAIT_REPLICAS=1", "LEVELBOARD_REDIS_WAIT_TIMEOUT=100ms"))
	if !log.Has("LEVELBOARD_REDIS_WAIT_REPLICAS asks for more replicas than Redis has") || !log.Has("connected=0") {
		t.Error("the log does not say that replicas are missing")
	}
	g, u := s.guild(nil), newID()
	key := s.key(g)
	body := object{"xp": 5, "user": gopher}
	once := apitest.Header("Idempotency-Key", "the-same")
	for range 2 {
		got := s.Do("POST", memberPath(g, u), key, body, once)
		wantFailure(t, got, 503)
		if !strings.Contains(string(got.Body), "Too few replicas") {
			t.Errorf("the answer is %s", got.Body)
		}
	}
	wantFailure(t, s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}), 503)
	wantFailure(t, s.Do("POST", "/v2/guilds/"+g+"/messages", key, object{"messages": []object{{"userId": u, "channelId": newID()}}}), 503)
	if m := s.member(key, g, u).Level; m.XP < 6 || m.MessageCount != 1 {
		t.Errorf("%+v, want what was made", m)
	}

	host, port, _ := strings.Cut(server.Addr(), ":")
	if err := redisClient(t, replica).ReplicaOf(t.Context(), host, port).Err(); err != nil {
		t.Fatal(err)
	}
	var got apitest.Response
	testenv.Wait(t, "the replica has the change", func() bool {
		got = s.Do("POST", memberPath(g, u), key, body, once)
		return got.Status == 200
	})
	wantHeader(t, got, "Idempotent-Replayed", "true")
}

// Which members a Redis has dropped that evicts keys is not noticed, so that it may is said at the start.
func TestRedisThatMayDropMembers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policy string
		warned bool
	}{{"allkeys-lru", true}, {"volatile-ttl", true}, {"noeviction", false}} {
		server := testenv.Redis(t, testenv.WithConfig("maxmemory-policy "+test.policy))
		log := &testenv.Log{}
		run(t, newLogging(t, slog.NewTextHandler(log, nil), "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t)))
		if log.Has("set its maxmemory-policy to noeviction") != test.warned || log.Has("maxmemoryPolicy="+test.policy) != test.warned {
			t.Errorf("%s: warned %v, want %v", test.policy, !test.warned, test.warned)
		}
	}
}

// A Redis that keeps no log loses what changed since the last snapshot, so the start warns of it.
func TestRedisWithoutALog(t *testing.T) {
	t.Parallel()
	for setting, warned := range map[string]bool{"appendonly no": true, "appendonly yes": false} {
		server := testenv.Redis(t, testenv.WithConfig(setting))
		log := &testenv.Log{}
		run(t, newLogging(t, slog.NewTextHandler(log, nil), "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t)))
		if log.Has("redis-cli CONFIG SET appendonly yes") != warned {
			t.Errorf("%s: warned %v, want %v", setting, !warned, warned)
		}
	}
}
