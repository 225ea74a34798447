package testenv

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	// MasterName is the sentinels' name for their master.
	MasterName = "levels"

	sentinelServers = 3
	// downAfter is the time after which a silent master counts as dead. It is longer than the two seconds after which sentinels pause
	// because their machine hung, so a busy machine causes no failover. A disconnected replica may be promoted for ten times as long, which
	// outlasts the pause of 30 seconds.
	downAfter = 4 * time.Second
	// agreeTimeout is long because sentinels pause for 30 seconds after each time that the machine hung for two.
	agreeTimeout = 5 * time.Minute
)

// Sentinels are three Redis servers, a master and two replicas, and three
// sentinels that watch them.
type Sentinels struct {
	Servers  []*RedisServer // the first is the master at first
	Watchers []*RedisServer // the sentinels

	tb       testing.TB
	password string
	planner  *RedisServer // the sentinel with a requested failover that Promoted has not seen
}

// NewSentinels starts them and returns when the replicas are in step and the
// sentinels know each other. The options are for the servers. password is the
// sentinels' own, or empty.
func NewSentinels(tb testing.TB, password string, options ...RedisOption) *Sentinels {
	tb.Helper()
	s := &Sentinels{tb: tb, password: password}
	options = append([]RedisOption{WithConfig("repl-diskless-sync-delay 0", "repl-ping-replica-period 1", "repl-timeout 20")}, append(options, asPeers)...)
	for i := range sentinelServers {
		more := options
		if i > 0 {
			more = append(append([]RedisOption{}, options...), following(s.Servers[0]))
		}
		s.Servers = append(s.Servers, Redis(tb, more...))
	}
	for attempt := 1; ; attempt++ {
		err := s.watch()
		if err == nil {
			break
		}
		if attempt == 5 || !errors.Is(err, errExited) {
			tb.Fatalf("starting the sentinels: %v", err)
		}
	}
	s.Settle()
	return s
}

// peers is the user as whom sentinels and replicas connect to servers with a password, and its password. Cut tells them from clients by it.
const peers = "peers"

func asPeers(s *RedisServer) {
	if s.password != "" {
		s.lines = append(s.lines, "user "+peers+" on >"+peers+" ~* &* +@all", "masteruser "+peers, "masterauth "+peers)
	}
}

func following(master *RedisServer) RedisOption {
	host, port, _ := net.SplitHostPort(master.Addr())
	return func(s *RedisServer) { s.lines = append(s.lines, "replicaof "+host+" "+port) }
}

// watch starts the sentinels with the knowledge of each other that they would
// need seconds to find.
func (s *Sentinels) watch() error {
	for _, w := range s.Watchers {
		w.discard()
	}
	s.Watchers = nil
	var ids []string
	for range sentinelServers {
		w, err := newRedis(s.tb)
		if err != nil {
			return err
		}
		w.sentinel, w.password, w.tls = true, s.password, s.Servers[0].tls
		s.Watchers = append(s.Watchers, w)
		s.tb.Cleanup(w.discard)
		if w.port, err = reservePort(); err != nil {
			return err
		}
		var id [20]byte
		_, _ = rand.Read(id[:])
		ids = append(ids, hex.EncodeToString(id[:]))
	}
	for i, w := range s.Watchers {
		w.lines = s.knowledge(i, ids)
		if err := w.start(); err != nil {
			return fmt.Errorf("%w\n%s", err, logTail(w.log()))
		}
	}
	return nil
}

func (s *Sentinels) knowledge(of int, ids []string) []string {
	place := func(r *RedisServer) string { return strings.Replace(r.Addr(), ":", " ", 1) }
	lines := []string{
		"sentinel myid " + ids[of],
		fmt.Sprintf("sentinel monitor %s %s %d", MasterName, place(s.Servers[0]), sentinelServers/2+1),
		fmt.Sprintf("sentinel down-after-milliseconds %s %d", MasterName, downAfter.Milliseconds()),
		"sentinel failover-timeout " + MasterName + " 3000",
		"sentinel parallel-syncs " + MasterName + " 2",
	}
	if s.Servers[0].password != "" {
		lines = append(lines, "sentinel auth-user "+MasterName+" "+peers, "sentinel auth-pass "+MasterName+" "+peers)
	}
	if s.password != "" {
		lines = append(lines, "sentinel sentinel-pass "+s.password)
	}
	for _, r := range s.Servers[1:] {
		lines = append(lines, "sentinel known-replica "+MasterName+" "+place(r))
	}
	for i, w := range s.Watchers {
		if i != of {
			lines = append(lines, "sentinel known-sentinel "+MasterName+" "+place(w)+" "+ids[i])
		}
	}
	return lines
}

// URL returns the sentinels' address: redis://[:password of the servers@]host:port,...
func (s *Sentinels) URL() string {
	u := url.URL{Scheme: "redis", Path: "/0"}
	if s.Servers[0].tls != nil {
		u.Scheme = "rediss"
	}
	if password := s.Servers[0].password; password != "" {
		u.User = url.UserPassword("", password)
	}
	for i, w := range s.Watchers {
		if i > 0 {
			u.Host += ","
		}
		u.Host += w.Addr()
	}
	return u.String()
}

var masterLine = regexp.MustCompile(`\nmaster0:name=` + MasterName + `,status=(\w+),address=([0-9.:]+),`)

// Master returns the server that most sentinels name as the master and that acts
// as one, or nil.
func (s *Sentinels) Master() *RedisServer {
	votes := map[string]int{}
	for _, w := range s.Watchers {
		if w.running == nil {
			continue
		}
		votes[masterOf(w)]++
	}
	for _, r := range s.Servers {
		if votes[r.Addr()] > sentinelServers/2 && r.running != nil && r.role("master", "") {
			return r
		}
	}
	return nil
}

// Replicas returns the servers that are not the master.
func (s *Sentinels) Replicas() []*RedisServer {
	master := s.Master()
	var others []*RedisServer
	for _, r := range s.Servers {
		if r != master {
			others = append(others, r)
		}
	}
	return others
}

// Settle waits until there is a master, and every other running server is a
// replica in step with it.
func (s *Sentinels) Settle() {
	s.tb.Helper()
	s.await("a master with its replicas in step", func() bool {
		master := s.Master()
		if master == nil {
			return false
		}
		_, port, _ := net.SplitHostPort(master.Addr())
		running := 0
		for _, r := range s.Servers {
			if r.running != nil {
				running++
			}
			if r != master && r.running != nil && (!r.role("slave", "master_link_status:up") || !r.role("slave", "master_port:"+port)) {
				return false
			}
		}
		// A replica that is not online yet is connected, but does not count for WAIT.
		info, err := master.Ask("INFO", "replication")
		return err == nil && strings.Count(info, "state=online") == running-1
	})
}

// masterOf returns the address of the master that a sentinel knows, or "".
func masterOf(watcher *RedisServer) string {
	info, err := watcher.Ask("INFO", "sentinel")
	if found := masterLine.FindStringSubmatch(info); err == nil && found != nil {
		return found[2]
	}
	return ""
}

// Logs returns the ends of the logs of the servers and the sentinels.
func (s *Sentinels) Logs() string {
	var text strings.Builder
	for _, r := range slices.Concat(s.Servers, s.Watchers) {
		fmt.Fprintf(&text, "%s\n%s\n", r.Addr(), logTail(r.log()))
	}
	return text.String()
}

func (s *Sentinels) await(what string, ok func() bool) {
	s.tb.Helper()
	waitWithin(s.tb, agreeTimeout, what, ok, s.Logs)
}

// role reports whether the server has this role and this line in INFO.
func (s *RedisServer) role(role, line string) bool {
	info, err := s.Ask("INFO", "replication")
	return err == nil && strings.Contains(info, "\r\nrole:"+role+"\r\n") && (line == "" || strings.Contains(info, "\r\n"+line+"\r\n"))
}
