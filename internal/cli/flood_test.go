package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/testing/testenv"
)

// size is what a process needs.
type size struct {
	goroutines int
	heap       int // bytes in use after a collection
}

// size collects garbage first, so that what is counted is what is held; twice, for what is pooled goes only then.
func (p *process) size() size {
	p.t.Helper()
	for range 2 {
		p.want(200, "GET", p.ops+"/debug/pprof/heap?gc=1", "")
	}
	return size{goroutines: int(p.metric("go_goroutines")), heap: int(p.metric("go_memstats_heap_alloc_bytes"))}
}

func (s size) String() string {
	return fmt.Sprintf("%d goroutines, %.1f MB", s.goroutines, float64(s.heap)/1e6)
}

// More clients than are worked on at a time push as hard as they can while Redis is silent. Each is answered soon, what the
// process needs is bounded by how many connections there are, and afterwards it is what it was before.
func TestFloodWhileRedisIsSilent(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	redis, archive := testenv.Redis(t), testenv.PostgresServer(t)
	p := serve(t, append(onServers(redis, archive), "LEVELBOARD_LOG_LEVEL=error", "LEVELBOARD_REDIS_TIMEOUT=500ms", "LEVELBOARD_RATE_LIMIT_KEY=1000000", "LEVELBOARD_CONNECTIONS_PER_ADDRESS=0")...)
	p.populate()
	before := p.size()

	const clients = 2500 // 512 of one owner are worked on
	redis.Pause()
	pool := &http.Transport{MaxIdleConnsPerHost: clients}
	client := &http.Client{Transport: pool, Timeout: 30 * time.Second}
	ctx, stop := context.WithTimeout(t.Context(), testenv.Patience)
	defer stop()
	began := time.Now()
	var flood sync.WaitGroup
	var refused, odd atomic.Int64
	for range clients {
		flood.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.member(testUser), http.NoBody)
				if err != nil {
					panic(err)
				}
				r.Header.Set("X-Api-Key", p.key)
				resp, err := client.Do(r)
				if err != nil {
					continue // it was enough, or the machine has no more connections to give
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				crowded := resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests
				if crowded && resp.Header.Get("Retry-After") != "" {
					refused.Add(1)
				} else {
					odd.Add(1)
				}
			}
		})
	}
	var most size
	for refused.Load() < 2*clients || time.Since(began) < 3*time.Second {
		if ctx.Err() != nil {
			t.Fatalf("only %d were refused in %v", refused.Load(), time.Since(began))
		}
		now := p.size()
		most.goroutines, most.heap = max(most.goroutines, now.goroutines), max(most.heap, now.heap)
	}
	stop()
	flood.Wait()
	turnedAway := p.metric("levelboard_http_requests_turned_away_total")
	pool.CloseIdleConnections()
	redis.Resume()
	p.until("a client is answered again", func() bool {
		status, _ := p.ask("GET", p.member(testUser), "")
		return status == 200
	})

	if odd.Load() > 0 {
		t.Errorf("%d were refused, and %d answered otherwise", refused.Load(), odd.Load())
	}
	// A connection is at most two goroutines, and one that dials for Redis for each place there. Where the machine is short of time
	// some clients are on a new connection before the service saw the end of the last; one for each request would be 5,000 more.
	if bound := before.goroutines + 2*clients + 500; most.goroutines > bound {
		t.Errorf("%d goroutines, bound %d", most.goroutines, bound)
	}
	// Connections and requests hold this much, garbage included that a quick machine makes between the collection and the look.
	if most.heap > before.heap+250<<20 {
		t.Errorf("the heap grew from %v to %v", before, most)
	}
	var after size
	p.until("the process is what it was before", func() bool {
		after = p.size()
		return after.goroutines <= before.goroutines+10 && after.heap <= before.heap+8<<20
	})
	t.Logf("%d were refused, %g of them at once; before: %v; most: %v; after: %v", refused.Load(), turnedAway, before, most, after)
}

// While Postgres is away the backlog grows in Redis, and nowhere else.
func TestBacklogIsInRedisOnly(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	server, archive := testenv.Redis(t), testenv.PostgresServer(t)
	p := serve(t, append(onServers(server, archive), "LEVELBOARD_LOG_LEVEL=error")...)
	p.populate()
	options, err := redis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	dirty := func() int64 { return client.ZCard(t.Context(), "lb:{"+testGuild+"}:dirty").Val() }
	members := 0
	grow := func(n int) {
		t.Helper()
		var clients sync.WaitGroup
		for c := range 8 {
			clients.Go(func() {
				for i := c; i < n; i += 8 {
					user := fmt.Sprintf("%d", 400000000000000000+members+i)
					if status, text := p.creates(user); status != 200 {
						t.Errorf("%d %s", status, text)
						return
					}
				}
			})
		}
		clients.Wait()
		members += n
	}
	p.until("the snapshot is written", func() bool { return dirty() == 0 })

	archive.Kill()
	grow(500)
	before := p.size()
	grow(4000)
	after := p.size()
	if after.heap > before.heap+4<<20 || after.goroutines > before.goroutines+20 {
		t.Errorf("it grew from %v to %v", before, after)
	}
	if n := dirty(); n != int64(members) {
		t.Errorf("%d members are in the backlog, want %d", n, members)
	}
	t.Logf("with a backlog of 500: %v, of 4500: %v", before, after)
	archive.Start()
	p.until("the backlog is written", func() bool { return dirty() == 0 })
}
