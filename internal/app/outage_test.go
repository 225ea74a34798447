package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"levelboard/internal/apitest"
	"levelboard/internal/testenv"
)

// absence is one way in which Redis can be away. begin starts it and returns what ends it.
type absence struct {
	name  string
	begin func(server *testenv.RedisServer, w *wire) (end func())
}

func refuses(server *testenv.RedisServer, _ *wire) func() { server.Kill(); return server.Start }
func silent(server *testenv.RedisServer, _ *wire) func()  { server.Pause(); return server.Resume }
func late(_ *testenv.RedisServer, w *wire) func() {
	w.slow(2*time.Second, 0)
	return func() { w.slow(0, 0) }
}

func trickles(_ *testenv.RedisServer, w *wire) func() {
	w.slow(200*time.Millisecond, 1)
	return func() { w.slow(0, 0) }
}
func vanished(_ *testenv.RedisServer, w *wire) func() { return w.vanish() }

var absences = []absence{{"refuses", refuses}, {"silent", silent}, {"late", late}, {"trickles", trickles}, {"vanished", vanished}}

// A promise for each way to be away: whatever needs Redis is 503 within a second, one request or 500 at once; /readyz says
// so within a second and /livez does not; and within two seconds of the return all is well again, by itself.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	for _, away := range absences {
		t.Run(away.name, func(t *testing.T) {
			t.Parallel()
			server := testenv.Redis(t, testenv.WithAOF())
			w := startWire(t, server)
			s := start(t, "LEVELBOARD_REDIS_URL="+w.url(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t),
				"LEVELBOARD_RATE_LIMIT_KEY=1000000", "LEVELBOARD_RATE_LIMIT_IDENTITY=1000000")
			g, u := s.guild(nil), newID()
			key := s.key(g)
			s.create(key, g, u, 5)
			all := s.crowd(t, 500)
			all.send(t, "GET", memberPath(g, u), key).want(t, 200)

			end := away.begin(server, w)
			s.wantAll(time.Second, 503, rewardless(g, key))
			for range 2 {
				took := all.send(t, "GET", memberPath(g, u), key).want(t, 503)
				if slowest := took[len(took)-1]; slowest > time.Second {
					t.Errorf("the slowest of %d refusals took %v", len(took), slowest)
				}
			}
			began := time.Now()
			s.ops("/readyz").Want(t, 503)
			if took := time.Since(began); took > time.Second {
				t.Errorf("/readyz took %v", took)
			}
			s.ops("/livez").Want(t, 200)
			// The archive is there, so operators can go on.
			s.admin("GET", "/guilds/"+g, nil).Want(t, 200)

			end()
			began = time.Now()
			eventually(t, 2*time.Second, "the service answers again", func() bool {
				got, err := s.quick("GET", memberPath(g, u), key, "")
				return err == nil && got.Status == 200 && s.ops("/readyz").Status == 200
			})
			t.Logf("back after %v", time.Since(began))
			if xp := s.member(key, g, u).Level.XP; xp != 5 {
				t.Errorf("it is %d", xp)
			}
			s.patch(key, g, u, object{"increment": 1})
		})
	}
}

// crowd is many clients, each with a connection of its own.
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

// answers are what a crowd got.
type answers struct {
	all  []apitest.Response
	took []time.Duration
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
			began := time.Now()
			resp, err := c.client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			got.all[i], err = read(resp)
			got.took[i] = time.Since(began)
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

// want wants this status of each answer, with all that belongs to it, and returns how long they took, in order.
func (a answers) want(t *testing.T, status int) []time.Duration {
	t.Helper()
	for _, got := range a.all {
		if got.Status != status {
			t.Fatalf("one of %d is %d %s", len(a.all), got.Status, got.Body)
		}
		if status == 503 {
			wantRefused(t, got, 503)
			if header(t, got, "Retry-After") < 1 {
				t.Fatalf("Retry-After is %q", got.Header.Get("Retry-After"))
			}
		}
	}
	took := slices.Sorted(slices.Values(a.took))
	t.Logf("%d of %d at once: median %v, slowest %v", len(took), status, took[len(took)/2], took[len(took)-1])
	return took
}

var _ = fmt.Sprint
var _ = strings.Contains
