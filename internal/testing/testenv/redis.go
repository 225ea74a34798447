package testenv

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// RedisServer is a private redis-server process. Without [WithAOF] it keeps no
// data: after Kill or [RedisServer.Stop] it starts empty.
type RedisServer struct {
	server
	password string
	lines    []string
	tls      *redisTLS // nil for plain TCP
	sentinel bool
	fresh    string // its state after the start
}

// RedisOption changes how a RedisServer is configured.
type RedisOption func(*RedisServer)

// WithAOF makes the server durable: it writes every change to its append-only
// file before it answers, so even Kill loses nothing.
func WithAOF() RedisOption {
	return WithConfig("appendonly yes", "appendfsync always")
}

// WithPassword makes the server require a password.
func WithPassword(password string) RedisOption {
	return func(s *RedisServer) { s.password = password }
}

// WithConfig adds lines to redis.conf, after the lines that testenv writes.
func WithConfig(lines ...string) RedisOption {
	return func(s *RedisServer) { s.lines = append(s.lines, lines...) }
}

// Redis returns a redis-server for the test, empty and without clients. It is
// started for the test or, without options, emptied after an earlier test. If it
// cannot be started, the test fails.
func Redis(tb testing.TB, options ...RedisOption) *RedisServer {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		tb.Fatal("redis-server is not in PATH: run `make setup`, or install Redis 7.0 or newer (Debian: package redis-server)")
	}
	if len(options) == 0 {
		return plainRedis(tb)
	}
	s, err := newRedis(tb)
	if err != nil {
		tb.Fatal(err)
	}
	for _, option := range options {
		option(s)
	}
	s.open()
	return s
}

// newRedis makes a server that is not running yet.
func newRedis(tb testing.TB) (*RedisServer, error) {
	// Do not use tb.TempDir: the watchdog would leave that directory's parent.
	dir, err := os.MkdirTemp("", "levelboard-redis-")
	return redisOf(server{tb: tb, name: "redis-server", dir: dir, death: syscall.SIGKILL}), err
}

func redisOf(process server) *RedisServer {
	s := &RedisServer{server: process}
	s.launch, s.ready = s.run, s.answers
	return s
}

// URL returns the server's address as redis://[:password@]host:port/0, or
// rediss:// with [WithTLS].
func (s *RedisServer) URL() string {
	if s.password == "" {
		return s.url(nil)
	}
	return s.url(url.UserPassword("", s.password))
}

// URLFor returns the server's address for a user, whom [WithConfig] can make with
// the line user NAME on >PASSWORD ...
func (s *RedisServer) URLFor(user, password string) string {
	return s.url(url.UserPassword(user, password))
}

func (s *RedisServer) url(user *url.Userinfo) string {
	u := url.URL{Scheme: "redis", User: user, Host: s.Addr(), Path: "/0"}
	if s.tls != nil {
		u.Scheme = "rediss"
	}
	return u.String()
}

// Stop stops the server in an orderly way (SIGTERM).
func (s *RedisServer) Stop() { s.tb.Helper(); s.end(syscall.SIGTERM) }

func (s *RedisServer) run() (*process, error) {
	config := filepath.Join(s.dir, "redis.conf")
	args := []string{config}
	if s.sentinel {
		args = append(args, "--sentinel")
	}
	// A sentinel's file has its knowledge, which must survive a restart.
	if _, err := os.Stat(config); err != nil || !s.sentinel {
		if err := os.WriteFile(config, []byte(s.config()), 0o600); err != nil {
			return nil, err
		}
	}
	if err := s.checkAOF(); err != nil {
		return nil, err
	}
	return startProcess(command{
		path: "redis-server",
		args: args,
		env:  append(os.Environ(), "LC_ALL=C"),
		dir:  s.dir,
		log:  s.log(),
	}, syscall.SIGKILL)
}

// checkAOF cuts a transaction off that a killed server wrote in part. Redis itself cuts inside it, and executes the rest at its next start but
// one (docs/durability.md).
func (s *RedisServer) checkAOF() error {
	manifests, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.manifest"))
	for _, manifest := range manifests {
		check := exec.Command("redis-check-aof", "--fix", manifest) // #nosec G204 -- the test's own file
		check.Stdin = strings.NewReader("y\n")
		if said, failed := check.CombinedOutput(); failed != nil {
			err = fmt.Errorf("%w\n%s", failed, said)
		}
	}
	return err
}

func (s *RedisServer) config() string {
	lines := []string{
		"bind 127.0.0.1",
		"dir " + strconv.Quote(s.dir),
		"daemonize no",
	}
	if !s.sentinel {
		lines = append(lines, `save ""`, "appendonly no")
	}
	if s.tls != nil {
		lines = append(lines, s.tls.lines(s.port.number)...)
	} else {
		lines = append(lines, "port "+strconv.Itoa(s.port.number))
	}
	if s.password != "" {
		lines = append(lines, "requirepass "+strconv.Quote(s.password))
	}
	if s.password != "" && !s.sentinel {
		lines = append(lines, "masterauth "+strconv.Quote(s.password))
	}
	return strings.Join(append(lines, s.lines...), "\n") + "\n"
}
