package testenv

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Refusal is a state in which a Redis server answers reads and refuses writes.
type Refusal struct {
	Name       string
	Word       string // the first word of its answer to a write
	begin, end func(s *RedisServer) error
}

// Refusals are the states that a server can be in. With a full memory it still executes commands that need none.
var Refusals = []Refusal{
	{"its memory is full", "OOM", set("maxmemory", "1"), set("maxmemory", "0")},
	{"it has too few replicas", "NOREPLICAS", set("min-replicas-to-write", "1"), set("min-replicas-to-write", "0")},
	{"it is a replica", "READONLY", (*RedisServer).follow, (*RedisServer).lead},
	{"it cannot save to its disk", "MISCONF", (*RedisServer).failToSave, (*RedisServer).saveAgain},
}

// Refuse puts the server into the state until end is called.
func (s *RedisServer) Refuse(r Refusal) (end func()) {
	s.tb.Helper()
	if err := r.begin(s); err != nil {
		s.tb.Fatalf("making redis-server refuse writes with %s: %v", r.Word, err)
	}
	return func() {
		s.tb.Helper()
		if err := r.end(s); err != nil {
			s.tb.Fatalf("making redis-server accept writes again after %s: %v", r.Word, err)
		}
	}
}

// FillMemory is Refuse for a full memory.
func (s *RedisServer) FillMemory() (end func()) { s.tb.Helper(); return s.Refuse(Refusals[0]) }

func set(name, value string) func(s *RedisServer) error {
	return func(s *RedisServer) error {
		_, err := s.Ask("CONFIG", "SET", name, value)
		return err
	}
}

// follow makes the server the replica of a master that is down.
func (s *RedisServer) follow() error { _, err := s.Ask("REPLICAOF", "127.0.0.1", "1"); return err }

func (s *RedisServer) lead() error { _, err := s.Ask("REPLICAOF", "NO", "ONE"); return err }

// dump returns the path where a server saves its data. It cannot save while a directory is there.
func (s *RedisServer) dump() string { return filepath.Join(s.dir, "dump.rdb") }

func (s *RedisServer) failToSave() error {
	if err := os.Mkdir(s.dump(), 0o700); err != nil {
		return err
	}
	if _, err := s.Ask("CONFIG", "SET", "save", "3600 1000000000"); err != nil {
		return err
	}
	if _, err := s.Ask("BGSAVE"); err != nil {
		return err
	}
	return s.running.waitUntil(func(int) error {
		info, err := s.Ask("INFO", "persistence")
		if err == nil && !strings.Contains(info, "rdb_last_bgsave_status:err") {
			err = errors.New("it has not failed to save yet")
		}
		return err
	})
}

func (s *RedisServer) saveAgain() error {
	if err := os.Remove(s.dump()); err != nil {
		return err
	}
	if _, err := s.Ask("SAVE"); err != nil {
		return err
	}
	return os.Remove(s.dump())
}
