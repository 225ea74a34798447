package testenv

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// idle are the servers without options that tests of this process have returned.
// Emptying one takes a tenth of the time of a start.
var idle redisPool

type redisPool struct {
	mu      sync.Mutex
	servers []*RedisServer
}

func plainRedis(tb testing.TB) *RedisServer {
	tb.Helper()
	s := idle.take()
	if s != nil {
		s.tb = tb
		tb.Cleanup(s.giveBack)
		return s
	}
	s, err := newRedis(tb)
	if err == nil {
		tb.Cleanup(s.giveBack)
		if err = s.openOnce(); err == nil {
			s.fresh, err = s.state()
		}
	}
	if err != nil {
		tb.Fatalf("starting %s: %v\n%s", s.name, err, logTail(s.log()))
	}
	return s
}

func (p *redisPool) take() *RedisServer {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.servers)
	if n == 0 {
		return nil
	}
	s := p.servers[n-1]
	p.servers = p.servers[:n-1]
	return s
}

// stop stops the idle servers. Watchdogs do it for a killed process.
func (p *redisPool) stop() {
	for s := p.take(); s != nil; s = p.take() {
		s.discard()
	}
}

// giveBack makes the server idle when its test ends, or stops it if the test did
// something that emptying does not undo.
func (s *RedisServer) giveBack() {
	if s.running == nil || s.touched || s.running.exited() || s.reset() != nil {
		s.discard()
		return
	}
	// The test's own value must not reach the server any more.
	next := redisOf(s.server)
	next.tb, next.fresh = nil, s.fresh
	s.running = nil
	idle.mu.Lock()
	defer idle.mu.Unlock()
	idle.servers = append(idle.servers, next)
}

// reset empties the server and gives it a new port, so that clients of the earlier
// test cannot connect again. It fails if the server's state has changed.
func (s *RedisServer) reset() error {
	before := s.port
	after, err := reservePort()
	if err != nil {
		return err
	}
	_, err = s.askAll(askTimeout,
		[]string{"CONFIG", "SET", "port", strconv.Itoa(after.number)},
		[]string{"CLIENT", "UNPAUSE"},
		[]string{"CLIENT", "KILL", "TYPE", "normal"}, // except this one
		[]string{"CLIENT", "KILL", "TYPE", "pubsub"},
		[]string{"CLIENT", "KILL", "TYPE", "replica"},
		[]string{"FLUSHALL", "SYNC"},
		[]string{"SCRIPT", "FLUSH", "SYNC"},
		[]string{"FUNCTION", "FLUSH", "SYNC"},
		[]string{"CONFIG", "RESETSTAT"},
		[]string{"SLOWLOG", "RESET"},
		[]string{"LATENCY", "RESET"},
		[]string{"ACL", "LOG", "RESET"})
	if err != nil {
		after.release()
		return err
	}
	s.port = after
	before.release()
	state, err := s.state()
	if err == nil && state != s.fresh {
		err = errors.New("the test changed the server")
	}
	return err
}

// state returns what a test can change of a server besides its data.
func (s *RedisServer) state() (string, error) {
	answers, err := s.askAll(askTimeout, []string{"CONFIG", "GET", "*"}, []string{"ACL", "LIST"}, []string{"INFO"})
	if err != nil {
		return "", err
	}
	config := strings.Replace(answers[0], "port\n"+strconv.Itoa(s.port.number)+"\n", "", 1)
	files, err := os.ReadDir(s.dir)
	state := fmt.Sprintln(config, answers[1], files)
	for line := range strings.Lines(answers[2]) {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "role", "master_replid", "repl_backlog_active", "rdb_bgsave_in_progress", "rdb_last_bgsave_status", "rdb_last_save_time":
			state += line
		}
	}
	return state, err
}
