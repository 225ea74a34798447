package app_test

import (
	"net/http"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// ops sends a request to the operators' port.
func (s *service) ops(path string, options ...apitest.Option) apitest.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.app.OpsAddr()+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, option := range options {
		option(r)
	}
	var got testenv.Answer
	testenv.Again(s.t, func() (err error) { // a busy machine may be too slow to send the headers in time
		got, err = testenv.Exchange(s.plain, r)
		return err
	})
	return apitest.Response(got)
}

func TestThePortOfOperators(t *testing.T) {
	t.Parallel()
	environ := onServers(t)
	s := start(t, append(environ, often, "LEVELBOARD_RATE_LIMIT_KEY=100000")...)
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 1)
	s.board(key, g, 1)
	s.Do("GET", memberPath(g, newID()), key, nil).Want(t, 404)
	for _, path := range []string{"/livez", "/readyz", "/readyz?verbose", "/debug/pprof/"} {
		s.ops(path).Want(t, 200)
	}
	wantJSON(t, s.ops("/readyz?verbose"), `{"ready":true,"service":{"state":"running"},"redis":{"state":"ok"},"archive":{"state":"ok"}}`)
	s.ops(boardPath(g, 1)).Want(t, 404)
	for _, path := range []string{"/metrics", "/livez", "/readyz", "/debug/pprof/"} {
		s.Do("GET", path, "", nil).Want(t, 404)
	}

	got := string(s.ops("/metrics").Want(t, 200).Body)
	for _, line := range []string{`levelboard_build_info{`, `version="test"`, `go_goroutines `, `process_resident_memory_bytes `} {
		if !strings.Contains(got, line) {
			t.Errorf("/metrics lacks the line %s", line)
		}
	}
	for _, secret := range []string{g, u, key, s.token} {
		if strings.Contains(got, secret) {
			t.Error("/metrics contains the id of a guild, a user or a key")
		}
	}
}

// call is one request.
type call struct{ method, path, key, body string }

// needRedis returns the calls that need Redis, on a guild without periods.
func needRedis(t *testing.T, g, key string) (calls []call) {
	t.Helper()
	for _, c := range v2Calls(t, g, newID()) {
		if !strings.Contains(c.Path, "role-rewards") && !strings.HasSuffix(c.Path, "/directory") && !strings.HasSuffix(c.Path, "/hidden") && c.Address() != periodsPath(g) && !strings.HasSuffix(c.Path, "/activity") {
			calls = append(calls, call{c.Method, c.Address(), key, c.Body})
		}
	}
	return calls
}

// wantAll sends the calls and fails unless each is refused with this status, message and headers.
func (s *service) wantAll(status int, calls []call) {
	s.t.Helper()
	for _, c := range calls {
		got := s.Do(c.method, c.path, c.key, bodyOrNone(c.body))
		if got.Status != status {
			s.t.Errorf("%s %s is %d %s, want %d", c.method, c.path, got.Status, got.Body, status)
			continue
		}
		wantRefused(s.t, got, status)
		if status == http.StatusServiceUnavailable && header(s.t, got, "Retry-After") < 1 {
			s.t.Errorf("Retry-After of %s %s is %q, want 1 or more", c.method, c.path, got.Header.Get("Retry-After"))
		}
	}
}

func TestAServiceStartsBeforeRedis(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	server.Stop()
	s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t))
	s.ops("/readyz").Want(t, 503)
	g := s.guild(nil)
	s.wantAll(503, []call{{"GET", boardPath(g, 1), "", ""}})
	server.Start()
	testenv.Wait(t, "the service is ready", func() bool { return s.ops("/readyz").Status == 200 })
	s.board("", g, 1)
}

func TestCachedGuildsWorkWithoutPostgres(t *testing.T) {
	t.Parallel()
	server, archive := testenv.Redis(t), testenv.PostgresServer(t)
	client := redisClient(t, server)
	environ := []string{"LEVELBOARD_REDIS_URL=" + server.URL(), "LEVELBOARD_POSTGRES_URL=" + archive.URL(), often}
	s, other := start(t, environ...), start(t, environ...)
	g, cold, u := s.guild(object{"vanity": "warm"}), s.guild(nil), newID()
	id, key := s.mint(object{"guildIds": []string{g}})
	s.create(key, g, u, 5)
	s.board("", "warm", 1)
	_, uncached := other.mint(object{"guildIds": []string{g}})
	archived(t, client, g)
	// This replica's cache must have its own change.
	s.admin("PUT", "/guilds/"+g, settings(object{"vanity": "warmer"})).Want(t, 200)
	s.admin("PUT", "/keys/"+id+"/guilds/"+cold, nil).Want(t, 204)
	fresh := s.key(g)

	archive.Kill()
	s.board("", "warmer", 1)
	s.Do("GET", memberPath(g, u), fresh, nil).Want(t, 200)
	for i := range 5 {
		s.patch(key, g, u, object{"increment": 1})
		if xp := s.board("", "warmer", 1).Levels[0].XP; xp != 6+i {
			t.Errorf("without Postgres the board shows %d XP, want %d", xp, 6+i)
		}
	}
	s.create(key, g, newID(), 1)
	s.Do("GET", memberPath(g, u), uncached, nil).Want(t, 503)
	s.wantAll(503, []call{
		{"GET", memberPath(g, u), uncached, ""}, {"GET", boardPath(g, 1), uncached, ""}, {"GET", boardPath(cold, 1), "", ""}, {"GET", boardPath("unheardof", 1), "", ""},
	})
	wantRefused(t, s.Do("GET", memberPath(g, u), "letmein", nil), 401)
	s.ops("/readyz").Want(t, 200)
	testenv.Wait(t, "the connections are known to be gone", func() bool {
		return strings.Contains(string(s.ops("/readyz?verbose").Body), "connection refused")
	})
	wantJSON(t, s.ops("/readyz?verbose").Want(t, 200), `{"ready":true,"service":{"state":"running"},"redis":{"state":"ok"},
		"archive":{"state":"unreachable","reason":"connection refused"}}`)
	for _, path := range []string{"/guilds/" + g, "/keys"} {
		got := s.admin("GET", path, nil)
		wantFailure(t, got, 503)
		if header(t, got, "Retry-After") < 1 {
			t.Errorf("the refusal without Postgres has the Retry-After %q, want 1 or more", got.Header.Get("Retry-After"))
		}
	}
	wantFailure(t, s.admin("DELETE", "/keys/"+id, nil), 503)

	archive.Start()
	testenv.Wait(t, "the key that was not cached is known again", func() bool {
		return s.Do("GET", memberPath(g, u), uncached, nil).Status == 200
	})
	archived(t, client, g)
	client.FlushAll(t.Context())
	if xp := s.member(key, g, u).Level.XP; xp != 10 {
		t.Errorf("after changes without Postgres the member has %d XP, want 10", xp)
	}
	s.board("", cold, 1)
	s.admin("DELETE", "/keys/"+id, nil).Want(t, 204)
	s.Do("GET", memberPath(g, u), key, nil).Want(t, 401)
}
