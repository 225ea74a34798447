package testenv

import (
	"strconv"
	"strings"
)

// Promoted waits until another server than before is the master, and returns
// it.
func (s *Sentinels) Promoted(before *RedisServer) *RedisServer {
	s.tb.Helper()
	var now *RedisServer
	s.await("another master", func() bool {
		now = s.Master()
		if s.planner != nil && masterOf(s.planner) == before.Addr() {
			_, _ = s.planner.Ask("SENTINEL", "FAILOVER", MasterName) // the earlier one was aborted, or still runs and this is refused
		}
		return now != nil && now != before
	})
	s.planner = nil
	return now
}

// Failover makes the sentinels promote a replica though the master is fine. They abort a failover that takes too long, and Promoted repeats it.
func (s *Sentinels) Failover() {
	s.tb.Helper()
	s.await("a planned failover", func() bool {
		for _, w := range s.Watchers {
			if w.running != nil {
				_, err := w.Ask("SENTINEL", "FAILOVER", MasterName)
				s.planner = w
				return err == nil
			}
		}
		return false
	})
}

// InStep waits until the replicas have everything that the master had at the
// call.
func (s *Sentinels) InStep() {
	s.tb.Helper()
	master := s.Master()
	if master == nil {
		s.tb.Fatal("the sentinels have no master")
	}
	info, err := master.Ask("INFO", "replication")
	if err != nil {
		s.tb.Fatalf("asking the master for its offset: %v", err)
	}
	at := offset(info, "master_repl_offset")
	s.await("replicas in step", func() bool {
		for _, r := range s.Servers {
			if r == master || r.running == nil {
				continue
			}
			if info, err := r.Ask("INFO", "replication"); err != nil || offset(info, "slave_repl_offset") < at {
				return false
			}
		}
		return true
	})
}

func offset(info, name string) int64 {
	_, rest, _ := strings.Cut(info, "\r\n"+name+":")
	line, _, _ := strings.Cut(rest, "\r\n")
	n, _ := strconv.ParseInt(line, 10, 64)
	return n
}

// Cut disconnects a server from the sentinels and the other servers until heal is called. Clients still reach it. The servers must have a
// password.
func (s *Sentinels) Cut(r *RedisServer) (heal func()) {
	s.tb.Helper()
	if r.password == "" {
		s.tb.Fatal("Cut needs a server with a password")
	}
	ask := func(command ...string) {
		s.tb.Helper()
		if _, err := r.Ask(command...); err != nil {
			s.tb.Fatalf("sending %v: %v", command, err)
		}
	}
	ask("ACL", "SETUSER", peers, "off")
	ask("CLIENT", "KILL", "USER", peers)
	return func() {
		s.tb.Helper()
		ask("ACL", "SETUSER", peers, "on")
		// A sentinel that connected meanwhile would keep that connection, without its rights, forever.
		ask("CLIENT", "KILL", "TYPE", "normal")
		ask("CLIENT", "KILL", "TYPE", "pubsub")
	}
}

// Lag disconnects the replicas from the master for good, so that later changes are
// not on them. The servers must have a password.
func (s *Sentinels) Lag() {
	s.tb.Helper()
	master := s.Master()
	if master == nil || s.Servers[0].password == "" {
		s.tb.Fatal("Lag needs a master with a password")
	}
	for _, r := range s.Replicas() {
		if _, err := r.Ask("CONFIG", "SET", "masterauth", "not the password"); err != nil {
			s.tb.Fatalf("disconnecting a replica: %v", err)
		}
	}
	if _, err := master.Ask("CLIENT", "KILL", "TYPE", "replica"); err != nil {
		s.tb.Fatalf("disconnecting the replicas: %v", err)
	}
	s.await("replicas that are cut off", func() bool { return master.role("master", "connected_slaves:0") })
}
