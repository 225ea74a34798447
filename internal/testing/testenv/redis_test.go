//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package testenv

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// redisDo sends one command over a new connection.
func redisDo(t *testing.T, s *RedisServer, args ...string) string {
	t.Helper()
	reply, err := redisTry(s, args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return reply
}

func redisTry(s *RedisServer, args ...string) (string, error) { return s.ask(5*time.Second, args...) }

func TestRedisKilledStartsEmptyOnTheSameAddress(t *testing.T) {
	s := Redis(t)
	addr := s.Addr()
	redisDo(t, s, "SET", "k", "v")
	s.Kill()
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Fatal("a killed server still takes connections")
	}
	s.Start()
	if s.Addr() != addr {
		t.Fatalf("address after restart is %s, was %s", s.Addr(), addr)
	}
	if _, err := redisTry(s, "GET", "k"); err == nil {
		t.Fatal("a server without persistence kept a key through Kill")
	}
}

func TestRedisWithAOFSurvivesKillAndStop(t *testing.T) {
	s := Redis(t, WithAOF())
	redisDo(t, s, "SET", "k", "v")
	s.Kill()
	s.Start()
	if got := redisDo(t, s, "GET", "k"); got != "v" {
		t.Fatalf("after Kill: %q", got)
	}
	s.Stop()
	s.Start()
	if got := redisDo(t, s, "GET", "k"); got != "v" {
		t.Fatalf("after Stop: %q", got)
	}
}

func TestRedisServersAreSeparate(t *testing.T) {
	a, b := Redis(t), Redis(t)
	redisDo(t, a, "SET", "k", "v")
	if _, err := redisTry(b, "GET", "k"); err == nil {
		t.Fatal("two servers share a key")
	}
}

func TestRedisWithPasswordDemandsIt(t *testing.T) {
	s := Redis(t, WithPassword(`p "w`), WithConfig("maxmemory 50mb"))
	if got := redisDo(t, s, "PING"); got != "PONG" {
		t.Fatal(got)
	}
	if want := "redis://:p%20%22w@" + s.Addr() + "/0"; s.URL() != want {
		t.Fatalf("URL is %s, want %s", s.URL(), want)
	}
	s.password = ""
	if _, err := redisTry(s, "PING"); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Fatalf("without the password: %v", err)
	}
}

func TestRedisPausedAnswersOnlyAfterResume(t *testing.T) {
	s := Redis(t)
	s.Pause()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	replies := bufio.NewReader(conn)
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := replies.ReadString('\n'); err == nil {
		t.Fatal("a paused server answered")
	}
	s.Resume()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if line, err := replies.ReadString('\n'); err != nil || line != "+PONG\r\n" {
		t.Fatalf("after Resume: %q, %v", line, err)
	}
}

func TestRedisLeavesNothing(t *testing.T) {
	var s *RedisServer
	var pid int
	t.Run("a test", func(t *testing.T) {
		s = Redis(t)
		pid = s.running.pid
		s.Pause()
	})
	assertGone(t, pid, s.Dir())
	again, err := net.ListenPacket("udp", s.Addr())
	if err != nil {
		t.Fatalf("the port is still reserved: %v", err)
	}
	again.Close()
}

func TestReadinessIsNotFooledByAnotherServer(t *testing.T) {
	s := Redis(t)
	if err := s.answers(s.running.pid); err != nil {
		t.Fatal(err)
	}
	if err := s.answers(s.running.pid + 1); err == nil {
		t.Fatal("another process's answer was taken for ours")
	}
}
