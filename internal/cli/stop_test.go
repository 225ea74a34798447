package cli

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// Clients that never stop sending, and one that never ends its body, do not delay a stop. Every change that was answered before it is there
// after the next start.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	// A busy machine may need longer than six seconds, so the test repeats.
	testenv.Again(t, func() error { return stopUnderLoad(t) })
}

func stopUnderLoad(t *testing.T) error {
	redis, archive := testenv.Redis(t), testenv.PostgresServer(t)
	p := serve(t, append(onServers(redis, archive), "LEVELBOARD_SHUTDOWN_TIMEOUT=6s")...)
	p.populate()

	var clients sync.WaitGroup
	var answered, refused atomic.Int64
	for range 8 {
		clients.Go(func() {
			for {
				switch status, _ := p.ask("PATCH", p.member(testUser), `{"xp":{"increment":1}}`); status {
				case 200:
					answered.Add(1)
				case 0:
					return // no more requests are accepted
				default:
					refused.Add(1)
				}
			}
		})
	}
	p.until("clients are answered", func() bool { return answered.Load() > 50 })
	slow, err := p.slowBody() // last, because its time for the body is short
	if err != nil {
		p.signal(syscall.SIGTERM)
		p.wait(testenv.Patience)
		clients.Wait()
		return err
	}
	defer slow.Close()
	clients.Go(func() {
		for {
			if _, err := slow.Write([]byte(" ")); err != nil {
				return
			}
			<-time.After(500 * time.Millisecond)
		}
	})
	p.signal(syscall.SIGTERM)
	saysSo := false
	p.until("/readyz says that it stops", func() bool {
		status, text := p.ask("GET", p.ops+"/readyz", "")
		saysSo = status == 503 && strings.Contains(text, "stopping")
		return saysSo || status == 0
	})
	code := p.wait(30 * time.Second)
	clients.Wait()
	if cutOff := strings.Contains(p.said(), "cut off"); code != 0 || !saysSo || !cutOff || refused.Load() > 0 {
		return fmt.Errorf("the exit code is %d; /readyz says that it stops: %v; a request was cut off: %v; %d requests were refused",
			code, saysSo, cutOff, refused.Load())
	}

	// The archive has every answered change, so an empty Redis makes no difference.
	redis.Kill()
	redis.Start()
	again := serve(t, onServers(redis, archive)...)
	again.key = p.key
	if got := again.want(200, "GET", again.member(testUser), ""); !strings.Contains(got, fmt.Sprintf(`"xp":%d,`, 5+answered.Load())) &&
		!strings.Contains(got, fmt.Sprintf(`"xp":%d}`, 5+answered.Load())) {
		t.Errorf("%d changes were answered, and the member is %s", answered.Load(), got) // a busy machine is no excuse
	}
	return nil
}

// slowBody sends a request without its body, and returns when the service waits for that.
func (p *process) slowBody() (net.Conn, error) {
	p.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.api, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	fmt.Fprintf(c, "PATCH /v2/levels/%s/users/%s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n",
		testGuild, testUser, p.key)
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		_ = c.Close()
		return nil, fmt.Errorf("the service answers %q (%v), want it to wait for the body", line, err)
	}
	return c, nil
}

// A stop that cannot archive fails in time, says so, and loses nothing: Redis has the changes, and the next start writes them.
func TestAStopWithoutAStoreFailsAndLosesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		away func(*testenv.RedisServer, *testenv.PG)
		back func(*testenv.RedisServer, *testenv.PG)
	}{
		"Postgres gone": {
			func(_ *testenv.RedisServer, a *testenv.PG) { a.Kill() }, func(_ *testenv.RedisServer, a *testenv.PG) { a.Start() },
		},
		"Postgres silent": {
			func(_ *testenv.RedisServer, a *testenv.PG) { a.Pause() }, func(_ *testenv.RedisServer, a *testenv.PG) { a.Resume() },
		},
		"Redis gone": {
			func(r *testenv.RedisServer, _ *testenv.PG) { r.Kill() }, func(r *testenv.RedisServer, _ *testenv.PG) { r.Start() },
		},
		"Redis silent": {
			func(r *testenv.RedisServer, _ *testenv.PG) { r.Pause() }, func(r *testenv.RedisServer, _ *testenv.PG) { r.Resume() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis, archive := testenv.Redis(t, testenv.WithAOF()), testenv.PostgresServer(t)
			p := serve(t, append(onServers(redis, archive), "LEVELBOARD_REDIS_TIMEOUT=500ms", "LEVELBOARD_SHUTDOWN_TIMEOUT=4s", "LEVELBOARD_SNAPSHOT_INTERVAL=1h")...)
			p.populate()
			c.away(redis, archive)
			p.signal(syscall.SIGTERM)
			if code := p.wait(30 * time.Second); code != exitFailed {
				t.Errorf("the exit code is %d, want %d", code, exitFailed)
			}
			if !strings.Contains(p.said(), "levelboard: the last snapshot was not written, what changed since the last one is in Redis") {
				t.Error("standard error does not say that the last snapshot was not written")
			}
			c.back(redis, archive)
			again := serve(t, onServers(redis, archive)...)
			again.key = p.key
			again.until("what was not written is written", func() bool { return again.metric("levelboard_snapshot_members_total") >= 1 })
			again.want(200, "GET", again.member(testUser), "")
		})
	}
}

// Exit code 0 means that everything is archived. A stop waits for the lease of a process that no longer answers, if there is time.
func TestAStopWaitsForTheLeaseOfASilentWriter(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for name, c := range map[string]struct {
		time, says string
		code       int
	}{
		"with the time to wait": {time: "60s"},
		"without":               {time: "2s", code: exitFailed, says: "the lease is held by a replica that no longer answers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis, archive := testenv.Redis(t), testenv.PostgresServer(t)
			environ := append(onServers(redis, archive), "LEVELBOARD_SNAPSHOT_INTERVAL=1h", "LEVELBOARD_SHUTDOWN_TIMEOUT="+c.time)
			writer := serve(t, environ...)
			writer.until("it holds the lease", func() bool { return writer.metric("levelboard_snapshot_lease_held") == 1 })
			p := serve(t, environ...)
			p.populate()
			writer.signal(syscall.SIGSTOP)
			p.signal(syscall.SIGTERM)
			if code := p.wait(testenv.Patience); code != c.code || !strings.Contains(p.said(), c.says) {
				t.Errorf("the exit code is %d, want %d with %q", code, c.code, c.says)
			}
			if c.code != 0 {
				return
			}
			redis.Kill() // only the archive is left
			_ = writer.command.Process.Kill()
			redis.Start()
			again := serve(t, environ...)
			again.key = p.key
			again.want(200, "GET", again.member(testUser), "")
		})
	}
}

// The second signal ends a stop that hangs.
func TestASecondSignalEndsAHangingStop(t *testing.T) {
	t.Parallel()
	redis, archive := testenv.Redis(t), testenv.PostgresServer(t)
	for name, signals := range map[string][2]syscall.Signal{
		"SIGTERM": {syscall.SIGTERM, syscall.SIGTERM}, "SIGINT and SIGTERM": {syscall.SIGINT, syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, onServers(redis, archive)...)
			archive.Pause()
			defer archive.Resume()
			p.signal(signals[0])
			p.says("a second signal stops at once")
			time.Sleep(2 * sameStop) // or it counts as a repeat of the first
			p.signal(signals[1])
			if code := p.wait(testenv.Patience); code != exitFailed {
				t.Errorf("the exit code is %d, want %d", code, exitFailed)
			}
			if !strings.Contains(p.said(), errHurried.Error()) {
				t.Error("standard error does not say that a second signal ended the stop")
			}
		})
	}
}
