package testenv

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// redisDo sends one command over a new connection.
func redisDo(t *testing.T, s *RedisServer, args ...string) string {
	t.Helper()
	reply, err := s.Ask(args...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// pooled returns a server as the last test of it left it, and one for the next test.
func pooled(t *testing.T, use func(t *testing.T, s *RedisServer)) (before, after *RedisServer) {
	t.Helper()
	t.Run("a test", func(t *testing.T) {
		s := Redis(t)
		before = redisOf(s.server)
		use(t, s)
	})
	return before, Redis(t)
}

func TestARedisServerIsEmptiedForTheNextTest(t *testing.T) {
	var left *redis.Client
	before, after := pooled(t, func(t *testing.T, s *RedisServer) {
		redisDo(t, s, "SET", "key", "value")
		redisDo(t, s, "EVAL", "return 1", "0")
		redisDo(t, s, "FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
		redisDo(t, s, "CLIENT", "PAUSE", "60000", "WRITE")
		left = redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1})
		if err := left.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	})
	defer left.Close()
	if before.running != after.running {
		t.Fatal("the server was not used again")
	}
	if err := left.Ping(t.Context()).Err(); err == nil {
		t.Error("a client of the last test still has its connection, or another one")
	}
	if _, err := net.Dial("tcp", before.Addr()); err == nil {
		t.Error("the server still listens on its old port")
	}
	for _, one := range [][2]string{
		{"DBSIZE", "0"}, {"SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"}, {"FUNCTION LIST", ""},
	} {
		if got := redisDo(t, after, strings.Fields(one[0])...); got != one[1] {
			t.Errorf("%s: %q, want %q", one[0], got, one[1])
		}
	}
	redisDo(t, after, "SET", "key", "another")
}

func TestARedisServerThatATestChangedIsNotUsedAgain(t *testing.T) {
	ask := func(words ...string) func(*testing.T, *RedisServer) {
		return func(t *testing.T, s *RedisServer) { redisDo(t, s, words...) }
	}
	for name, use := range map[string]func(*testing.T, *RedisServer){
		"killed":     func(t *testing.T, s *RedisServer) { s.Kill() },
		"restarted":  func(t *testing.T, s *RedisServer) { s.Stop(); s.Start() },
		"frozen":     func(t *testing.T, s *RedisServer) { s.Pause() },
		"resumed":    func(t *testing.T, s *RedisServer) { s.Pause(); s.Resume() },
		"configured": ask("CONFIG", "SET", "maxmemory", "100mb"),
		"a user":     ask("ACL", "SETUSER", "someone", "on", "nopass", "+@all"),
		"saved":      ask("SAVE"),
		"a file":     func(t *testing.T, s *RedisServer) { _ = os.WriteFile(filepath.Join(s.Dir(), "dump.rdb"), nil, 0o600) },
		"a replica": func(t *testing.T, s *RedisServer) {
			redisDo(t, s, "REPLICAOF", "127.0.0.1", "1")
			redisDo(t, s, "REPLICAOF", "NO", "ONE")
		},
	} {
		before, after := pooled(t, use)
		if before.Dir() == after.Dir() {
			t.Errorf("%s: used again", name)
		}
		if _, err := os.Stat(before.Dir()); err == nil {
			t.Errorf("%s: the server's directory is left", name)
		}
	}
}
