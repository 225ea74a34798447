package app_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// absence is one way in which Redis can be down. begin starts the outage and returns what ends it.
type absence struct {
	name  string
	limit string // of requests; with 0 a request's first call to Redis is its script
	begin func(server *testenv.RedisServer, w *testenv.Proxy) (end func())
	long  bool // runs in make ci only
}

func refuses(server *testenv.RedisServer, _ *testenv.Proxy) func() {
	server.Kill()
	return server.Start
}
func silent(server *testenv.RedisServer, _ *testenv.Proxy) func() {
	server.Pause()
	return server.Resume
}
func late(_ *testenv.RedisServer, w *testenv.Proxy) func() {
	w.Slow(2*time.Second, 0)
	return func() { w.Slow(0, 0) }
}

func trickles(_ *testenv.RedisServer, w *testenv.Proxy) func() {
	w.Slow(200*time.Millisecond, 1)
	return func() { w.Slow(0, 0) }
}
func vanished(_ *testenv.RedisServer, w *testenv.Proxy) func() { return w.Vanish() }

const many = "1000000"

var absences = []absence{
	{"refuses", many, refuses, false},
	{"silent", many, silent, false},
	{"silent, without limits", "0", silent, true},
	{"late", many, late, true},
	{"trickles", many, trickles, true},
	{"vanished", many, vanished, true},
}

// In each kind of outage, all that needs Redis is 503, within a second even for 500 requests at once; /readyz fails and /livez does not.
// After Redis returns, everything recovers by itself.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	for _, away := range absences {
		t.Run(away.name, func(t *testing.T) {
			if away.long {
				testenv.Long(t)
			}
			redisAway(t, away)
		})
	}
}

func redisAway(t *testing.T, away absence) {
	server := testenv.Redis(t, testenv.WithAOF())
	w := testenv.NewProxy(t, server.Addr())
	s := start(t, "LEVELBOARD_REDIS_URL="+w.In(server.URL()), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t), soon,
		"LEVELBOARD_RATE_LIMIT_KEY="+away.limit, "LEVELBOARD_RATE_LIMIT_IDENTITY="+away.limit)
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 5)
	all := s.crowd(t, 500)
	all.send(t, "GET", "/favicon.ico", "") // opens the connections
	// Add the time that this machine takes for so many answers that need no Redis.
	second := time.Second + all.send(t, "GET", "/favicon.ico", "").slowest()

	end := away.begin(server, w)
	s.allRefused(30*time.Second, needRedis(t, g, key))
	var got answers
	// Repeat on a busy machine: load can make an answer late, never early.
	for attempt := 1; ; attempt++ {
		got = all.send(t, "GET", memberPath(g, u), key)
		got.want(t, 503)
		if got.slowest() <= second || t.Failed() {
			break
		}
		if attempt == 6 {
			t.Errorf("the slowest of %d refusals took %v, want at most %v", len(got.took), got.slowest(), second)
			break
		}
		second = max(second, time.Second+2*all.send(t, "GET", "/favicon.ico", "").slowest())
	}
	s.ops("/readyz").Want(t, 503)
	s.ops("/livez").Want(t, 200)
	// The archive still works, and so do the operator's calls.
	s.admin("GET", "/guilds/"+g, nil).Want(t, 200)
	other := s.guild(nil)

	end()
	began := testenv.Awake()
	testenv.Wait(t, "the service answers again", func() bool {
		got, err := s.quick("GET", memberPath(g, u), key, "")
		return err == nil && got.Status == 200 && s.ops("/readyz").Status == 200
	})
	t.Logf("500 at once were refused after a median of %v, the last after %v; back after %v", got.median(), got.slowest(), testenv.Awake()-began)
	if xp := s.member(key, g, u).Level.XP; xp != 5 {
		t.Errorf("after the outage the member has %d XP, want 5", xp)
	}
	s.patch(key, g, u, object{"increment": 1})
	s.board("", other, 1)
}

// With a longer LEVELBOARD_REDIS_TIMEOUT a request survives a pause that fails it by default.
func TestARequestWaitsForTheRedisTimeout(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t), "LEVELBOARD_REDIS_TIMEOUT=5s")
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 5)

	server.Pause()
	answer := s.later("PATCH", memberPath(g, u), key, `{"xp":{"increment":1}}`)
	select {
	case got := <-answer:
		t.Fatalf("a request was answered %d %s while Redis paused, want it to wait", got.Status, got.Body)
	case <-time.After(1500 * time.Millisecond):
	}
	server.Resume()
	if got := <-answer; got.Status != 200 {
		t.Errorf("after the pause the request is %d %s, want 200", got.Status, got.Body)
	}
	if xp := s.member(key, g, u).Level.XP; xp != 6 {
		t.Errorf("after the pause the member has %d XP, want 6", xp)
	}
}

// allRefused sends the calls at the same time. Each must get a complete 503 within this time.
func (s *service) allRefused(within time.Duration, calls []call) {
	s.t.Helper()
	together(s.t, len(calls), len(calls), func(i int) error {
		c, began := calls[i], testenv.Awake()
		got, err := s.quick(c.method, c.path, c.key, c.body)
		if err != nil {
			return err
		}
		if took := testenv.Awake() - began; took > within {
			s.t.Errorf("%s %s took %v, want at most %v", c.method, c.path, took, within)
		}
		wantRefused(s.t, got, 503)
		if header(s.t, got, "Retry-After") < 1 {
			s.t.Errorf("%s %s: Retry-After is %q, want 1 or more", c.method, c.path, got.Header.Get("Retry-After"))
		}
		return nil
	})
}

// crowd is many clients, each with its own connection.
type crowd struct {
	s      *service
	n      int
	client *http.Client
}

func (s *service) crowd(t *testing.T, n int) *crowd {
	pool := &http.Transport{MaxIdleConnsPerHost: n}
	t.Cleanup(pool.CloseIdleConnections)
	return &crowd{s: s, n: n, client: &http.Client{Transport: pool, Timeout: 30 * time.Second}}
}

// answers are a crowd's answers and their times.
type answers struct {
	all  []apitest.Response
	took []time.Duration
}

func (a answers) slowest() time.Duration { return slices.Max(a.took) }

func (a answers) median() time.Duration {
	return slices.Sorted(slices.Values(a.took))[len(a.took)/2]
}

// send sends the request once for each client, all at once.
func (c *crowd) send(t *testing.T, method, path, key string) answers {
	t.Helper()
	got := answers{make([]apitest.Response, c.n), make([]time.Duration, c.n)}
	var ready, running sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(c.n)
	for i := range c.n {
		running.Go(func() {
			r, err := http.NewRequest(method, "http://"+c.s.app.Addr()+path, http.NoBody)
			if err != nil {
				panic(err)
			}
			r.Header.Set("X-Api-Key", key)
			ready.Done()
			<-begin
			began := testenv.Awake()
			answer, err := testenv.Exchange(c.client, r)
			got.all[i] = apitest.Response(answer)
			got.took[i] = testenv.Awake() - began
			if err != nil {
				t.Error(err)
			}
		})
	}
	ready.Wait()
	close(begin)
	running.Wait()
	return got
}

// want fails unless each answer is complete and has this status.
func (a answers) want(t *testing.T, status int) {
	t.Helper()
	for _, got := range a.all {
		wantRefused(t, got, status)
		if header(t, got, "Retry-After") < 1 {
			t.Errorf("Retry-After is %q, want 1 or more", got.Header.Get("Retry-After"))
		}
		if t.Failed() {
			return
		}
	}
}

// A client may repeat a request that got 503, because Redis was down or the guild could not be loaded.
func TestARequestRefusedInAnOutageCanBeRepeated(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, testenv.WithAOF())
	s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t))
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 5)
	patch := func(name string) apitest.Response {
		return s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}, named(name))
	}
	first := patch("made-before").Want(t, 200)
	server.Kill()
	wantFailure(t, patch("sent-meanwhile"), 503)
	wantFailure(t, patch("made-before"), 503)
	server.Start()
	testenv.Wait(t, "the service answers again", func() bool { return patch("made-before").Status == 200 })
	// Redis kept its data, so it still has the record of the request.
	wantReplay(t, first, patch("made-before"))
	second := patch("sent-meanwhile").Want(t, 200)
	wantJSON(t, second, `{"level":{"level":0,"messageCount":0,"xp":7}}`)
	wantReplay(t, second, patch("sent-meanwhile"))
}
