package app_test

import (
	"log/slog"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// A service that must wait for a missing replica warns at the start and tells each client that makes a change. The change is made,
// and a repeat with the same Idempotency-Key changes nothing.
func TestMissingReplicasAreReported(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, testenv.WithConfig("repl-diskless-sync-delay 0"))
	replica := testenv.Redis(t) // outlives the service, whose last snapshot also waits for it
	log := &testenv.Log{}
	s := run(t, newLogging(t, slog.NewTextHandler(log, nil), "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t),
		"LEVELBOARD_REDIS_WAIT_REPLICAS=1", "LEVELBOARD_REDIS_WAIT_TIMEOUT=100ms"))
	if !log.Has("LEVELBOARD_REDIS_WAIT_REPLICAS asks for more replicas than Redis has") || !log.Has("connected=0") {
		t.Error("the log does not warn that replicas are missing")
	}
	g, u := s.guild(nil), newID()
	key := s.key(g)
	body := object{"xp": 5, "user": gopher}
	once := apitest.Header("Idempotency-Key", "the-same")
	for range 2 {
		got := s.Do("POST", memberPath(g, u), key, body, once)
		wantFailure(t, got, 503)
		if !strings.Contains(string(got.Body), "Too few replicas") {
			t.Errorf("the answer is %s, want \"Too few replicas\" in it", got.Body)
		}
	}
	wantFailure(t, s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}), 503)
	wantFailure(t, s.Do("POST", "/v2/guilds/"+g+"/messages", key, object{"messages": []object{{"userId": u, "channelId": newID()}}}), 503)
	if m := s.member(key, g, u).Level; m.XP < 6 || m.MessageCount != 1 {
		t.Errorf("the member is %+v, want 6 XP or more and 1 message", m)
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

// A Redis that evicts keys drops members silently, and one without an append-only file may lose the changes since the last snapshot. The
// start warns of both.
func TestAStartWarnsOfARedisThatMayLoseMembers(t *testing.T) {
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
			t.Errorf("%s: warned of eviction %v and of no append-only file %v, want %v and %v",
				test.config, log.Has(evicts), log.Has(noLog), test.evicts, test.noLog)
		}
	}
}
