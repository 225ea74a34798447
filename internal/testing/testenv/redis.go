package testenv

import (
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// RedisServer is a private redis-server process. Without [WithAOF] it keeps
// nothing: after [RedisServer.Kill] or [RedisServer.Stop] it starts empty.
type RedisServer struct {
	tb       testing.TB
	dir      string
	password string
	lines    []string
	tls      *redisTLS // nil: it speaks plain TCP
	sentinel bool
	port     *port
	running  *process
}

// RedisOption changes how a RedisServer is configured.
type RedisOption func(*RedisServer)

// WithAOF makes the server durable: every change is in its append-only file
// before it is answered, so even Kill loses nothing.
func WithAOF() RedisOption {
	return WithConfig("appendonly yes", "appendfsync always")
}

// WithPassword makes the server demand a password.
func WithPassword(password string) RedisOption {
	return func(s *RedisServer) { s.password = password }
}

// WithConfig adds lines to redis.conf, after the lines that testenv writes.
func WithConfig(lines ...string) RedisOption {
	return func(s *RedisServer) { s.lines = append(s.lines, lines...) }
}

// Redis starts a fresh redis-server and returns when it answers. The server
// stops when the test ends; if none can be started, the test fails.
func Redis(tb testing.TB, options ...RedisOption) *RedisServer {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		tb.Fatal("redis-server is not in PATH: run `make setup`, or install Redis 7.0 or newer (Debian: package redis-server)")
	}
	// Not tb.TempDir: the watchdog would leave that directory's parent behind.
	dir, err := os.MkdirTemp("", "levelboard-redis-")
	if err != nil {
		tb.Fatalf("make a directory for redis-server: %v", err)
	}
	s := &RedisServer{tb: tb, dir: dir}
	for _, option := range options {
		option(s)
	}
	tb.Cleanup(s.discard)
	for attempt := 1; ; attempt++ {
		err := startOnFreePort(&s.port, s.start)
		if err == nil {
			return s
		}
		if attempt == 5 || !errors.Is(err, errExited) {
			tb.Fatalf("start redis-server: %v\n%s", err, logTail(s.log()))
		}
	}
}

// Addr is the server's host:port. It stays the same for the server's life.
func (s *RedisServer) Addr() string { return s.port.addr() }

// URL is the server's address as redis://[:password@]host:port/0, or rediss://
// with [WithTLS].
func (s *RedisServer) URL() string {
	if s.password == "" {
		return s.url(nil)
	}
	return s.url(url.UserPassword("", s.password))
}

// URLFor is the server's address for a user, which [WithConfig] can make with a
// line of redis.conf: user NAME on >PASSWORD ...
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

// Dir is the server's directory, with redis.conf, its log and its data.
func (s *RedisServer) Dir() string { return s.dir }

// Kill ends the server at once (SIGKILL).
func (s *RedisServer) Kill() { s.tb.Helper(); s.end(syscall.SIGKILL) }

// Stop ends the server in an orderly way (SIGTERM).
func (s *RedisServer) Stop() { s.tb.Helper(); s.end(syscall.SIGTERM) }

// Start runs a stopped or killed server again, on the same port and directory,
// and returns when it answers.
func (s *RedisServer) Start() {
	s.tb.Helper()
	if s.running != nil {
		s.tb.Fatal("redis-server is running already")
	}
	if err := s.start(); err != nil {
		s.tb.Fatalf("start redis-server again on %s: %v\n%s", s.Addr(), err, logTail(s.log()))
	}
}

// Pause freezes the server (SIGSTOP): connections stay open and nothing answers.
func (s *RedisServer) Pause() { s.tb.Helper(); s.signal(sigStop) }

// Resume lets a paused server go on.
func (s *RedisServer) Resume() { s.tb.Helper(); s.signal(sigCont) }

func (s *RedisServer) start() error {
	config := filepath.Join(s.dir, "redis.conf")
	args := []string{config}
	if s.sentinel {
		args = append(args, "--sentinel")
	}
	// What a sentinel has learnt is in that file, and must outlive it.
	if _, err := os.Stat(config); err != nil || !s.sentinel {
		if err := os.WriteFile(config, []byte(s.config()), 0o600); err != nil {
			return err
		}
	}
	p, err := startProcess(command{
		path: "redis-server",
		args: args,
		env:  append(os.Environ(), "LC_ALL=C"),
		dir:  s.dir,
		log:  s.log(),
	}, syscall.SIGKILL)
	if err != nil {
		return err
	}
	err = p.waitUntil(func(pid int) error { return s.answers(pid) })
	if err != nil {
		_ = p.end(syscall.SIGKILL)
		return err
	}
	s.running = p
	return nil
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

func (s *RedisServer) log() string { return filepath.Join(s.dir, "server.log") }

func (s *RedisServer) end(sig syscall.Signal) {
	s.tb.Helper()
	if s.running == nil {
		s.tb.Fatal("redis-server is not running")
	}
	err := s.running.end(sig)
	s.running = nil
	if err != nil {
		s.tb.Fatalf("end redis-server: %v\n%s", err, logTail(s.log()))
	}
}

func (s *RedisServer) signal(sig syscall.Signal) {
	s.tb.Helper()
	if s.running == nil {
		s.tb.Fatal("redis-server is not running")
	}
	if err := s.running.signal(sig); err != nil {
		s.tb.Fatalf("send %v to redis-server: %v", sig, err)
	}
}

// discard ends the server when its test is over. Its data is of no more use,
// and it may be paused, so it is killed.
func (s *RedisServer) discard() {
	if s.running != nil {
		if err := s.running.end(syscall.SIGKILL); err != nil {
			s.tb.Errorf("redis-server did not live until its test's end: %v\n%s", err, logTail(s.log()))
		}
		s.running = nil
	}
	if s.port != nil {
		s.port.release()
	}
	if err := os.RemoveAll(s.dir); err != nil {
		s.tb.Errorf("remove redis-server's directory: %v", err)
	}
}
