package app_test

import (
	"log/slog"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// A service that must wait for a missing replica warns at the start, and tells each client that makes a change. The
// change is made, and repeating it under its key makes no second one.
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

// A Redis that evicts keys silently drops members, and one without an append-only file loses the changes since the last snapshot. The start
// warns of both.
func TestRedisThatMayLoseMembers(t *testing.T) {
	t.Parallel()
	const evicts, noLog = "set its maxmemory-policy to noeviction", "redis-cli CONFIG SET appendonly yes"
	for _, test := range []struct {
		config        string
		evicts, noLog bool
	}{{"maxmemory-policy allkeys-lru", true, true}, {"maxmemory-policy volatile-ttl", true, true}, {"appendonly yes", false, false}} {
		server := testenv.Redis(t, testenv.WithConfig(test.config))
		log := &testenv.Log{}
		run(t, newLogging(t, slog.NewTextHandler(log, nil), "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t)))
		if log.Has(evicts) != test.evicts || log.Has(noLog) != test.noLog {
			t.Errorf("%s: warned of eviction: %v, of no log: %v", test.config, log.Has(evicts), log.Has(noLog))
		}
	}
}
