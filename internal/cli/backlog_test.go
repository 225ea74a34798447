package cli

import (
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/testing/testenv"
)

// size is what a process uses.
type size struct {
	goroutines int
	heap       int // bytes in use after a garbage collection
}

// size runs the garbage collector first, twice because pools survive one run, and returns what the process still uses.
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

// While Postgres is down the backlog grows in Redis, and nowhere else.
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
						t.Errorf("creating a member: %d %s, want 200", status, text)
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
		t.Errorf("the process grew from %+v to %+v, want at most 4 MiB and 20 goroutines more", before, after)
	}
	if n := dirty(); n != int64(members) {
		t.Errorf("%d members are in the backlog, want %d", n, members)
	}
	t.Logf("the process uses %+v with a backlog of 500, %+v with 4500", before, after)
	archive.Start()
	p.until("the backlog is written", func() bool { return dirty() == 0 })
}
