package testenv

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	clusterMasters = 3
	// nodeTimeout is after how long a silent node is taken for dead: long enough for a busy machine, short enough to wait for.
	nodeTimeout = 2 * time.Second
	// joinTimeout is for all of them to serve, which takes two seconds.
	joinTimeout = 25 * time.Second
	lastSlot    = 16383
)

// RedisCluster is a private Redis Cluster on loopback: three masters, and a
// replica of each. Nothing of it is on disk, so a node that was killed comes
// back empty.
type RedisCluster struct {
	// Masters and Replicas are the nodes by the roles that they began with; the
	// replica of a master has its place.
	Masters, Replicas []*RedisServer

	tb    testing.TB
	buses []*port
	ids   []string
}

// Cluster starts a fresh cluster and returns when all of it serves. It stops
// when the test ends; if none can be started, the test fails. It takes two to
// three seconds, which is how long a master that was started keeps still.
func Cluster(tb testing.TB, options ...RedisOption) *RedisCluster {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		tb.Fatal("redis-server is not in PATH: run `make setup`, or install Redis 7.0 or newer (Debian: package redis-server)")
	}
	for attempt := 1; ; attempt++ {
		c, err := newCluster(tb, options)
		if err == nil {
			err = c.start()
		}
		if err == nil {
			tb.Cleanup(c.discard)
			return c
		}
		logs := c.logs()
		c.discard()
		// A port may have been taken, and on a machine that stood still the nodes may have taken each other for dead.
		if attempt == 4 {
			tb.Fatalf("start a Redis Cluster: %v\n%s", err, logs)
		}
		tb.Logf("start a Redis Cluster, attempt %d: %v", attempt, err)
	}
}

// URL names all nodes: redis://[:password@]host:port,host:port.../0, or
// rediss:// with [WithTLS].
func (c *RedisCluster) URL() string { return c.all(c.Masters[0].URL()) }

// URLFor is the address of all nodes for a user, as of one server.
func (c *RedisCluster) URLFor(user, password string) string {
	return c.all(c.Masters[0].URLFor(user, password))
}

// all puts the nodes in place of the first one.
func (c *RedisCluster) all(url string) string {
	var hosts []string
	for _, s := range c.nodes() {
		hosts = append(hosts, s.Addr())
	}
	return strings.Replace(url, c.Masters[0].Addr(), strings.Join(hosts, ","), 1)
}

// id is the name that a node has in the cluster.
func (c *RedisCluster) id(node *RedisServer) string {
	for i, s := range c.nodes() {
		if s == node {
			return c.ids[i]
		}
	}
	return ""
}

// ReplicaOf is the replica that a first master began with.
func (c *RedisCluster) ReplicaOf(master *RedisServer) *RedisServer {
	c.tb.Helper()
	i := slices.Index(c.Masters, master)
	if i < 0 {
		c.tb.Fatal("the node was not a master when the cluster began")
	}
	return c.Replicas[i]
}

func (c *RedisCluster) nodes() []*RedisServer {
	return append(append([]*RedisServer{}, c.Masters...), c.Replicas...)
}

// newCluster reserves the ports and writes what each node would have learnt of
// the others, had it met them: that saves the time of the meeting.
func newCluster(tb testing.TB, options []RedisOption) (*RedisCluster, error) {
	c := &RedisCluster{tb: tb}
	for i := range 2 * clusterMasters {
		s, err := newRedis(tb)
		if err != nil {
			return c, err
		}
		if i < clusterMasters {
			c.Masters = append(c.Masters, s)
		} else {
			c.Replicas = append(c.Replicas, s)
		}
		if s.port, err = reservePort(); err != nil {
			return c, err
		}
		bus, err := reservePort()
		if err != nil {
			return c, err
		}
		c.buses = append(c.buses, bus)
		var id [20]byte
		_, _ = rand.Read(id[:])
		c.ids = append(c.ids, hex.EncodeToString(id[:]))
		for _, option := range options {
			option(s)
		}
		s.lines = append([]string{
			"cluster-enabled yes",
			fmt.Sprintf("cluster-port %d", bus.number),
			fmt.Sprintf("cluster-node-timeout %d", nodeTimeout.Milliseconds()),
			"cluster-replica-validity-factor 0", // a replica takes over however old what it has is
			"cluster-allow-replica-migration no",
			"repl-diskless-sync-delay 0",
			"repl-ping-replica-period 1",
		}, s.lines...)
		if s.tls != nil {
			s.lines = append(s.lines, "tls-cluster yes")
		}
	}
	for i, s := range c.nodes() {
		if err := os.WriteFile(filepath.Join(s.dir, "nodes.conf"), []byte(c.view(i)), 0o600); err != nil {
			return c, err
		}
	}
	return c, nil
}

// view is the file in which a node keeps what it knows of the cluster.
func (c *RedisCluster) view(of int) string {
	var text strings.Builder
	for i, s := range c.nodes() {
		flags, master, epoch, slots := "master", "-", i+1, ""
		if i < clusterMasters {
			slots = fmt.Sprintf(" %d-%d", i*(lastSlot+1)/clusterMasters, (i+1)*(lastSlot+1)/clusterMasters-1)
		} else {
			flags, master, epoch = "slave", c.ids[i-clusterMasters], i-clusterMasters+1
		}
		if i == of {
			flags = "myself," + flags
		}
		fmt.Fprintf(&text, "%s %s@%d %s %s 0 0 %d connected%s\n", c.ids[i], s.Addr(), c.buses[i].number, flags, master, epoch, slots)
	}
	fmt.Fprintf(&text, "vars currentEpoch %d lastVoteEpoch 0\n", clusterMasters)
	return text.String()
}

func (c *RedisCluster) start() error {
	errs := make([]error, len(c.ids))
	var started sync.WaitGroup
	for i, s := range c.nodes() {
		started.Go(func() {
			if errs[i] = s.start(); errs[i] == nil {
				errs[i] = s.running.waitWithin(joinTimeout, func(int) error { return s.joined() })
			}
		})
	}
	started.Wait()
	return errors.Join(errs...)
}

// joined reports whether a node serves, and follows its master if it is a replica.
func (s *RedisServer) joined() error {
	info, err := s.Ask("CLUSTER", "INFO")
	if err != nil {
		return err
	}
	if !strings.Contains(info, "cluster_state:ok") {
		return errors.New("the cluster does not serve: " + info)
	}
	if info, err = s.Ask("INFO", "replication"); err != nil {
		return err
	}
	if strings.Contains(info, "role:slave") && !strings.Contains(info, "master_link_status:up") {
		return errors.New("the replica does not follow its master: " + info)
	}
	// Before it is online, a replica is connected and does not count for WAIT.
	if strings.Contains(info, "role:master") && !strings.Contains(info, "state=online") {
		return errors.New("no replica follows the master: " + info)
	}
	return nil
}

func (c *RedisCluster) logs() string {
	var text strings.Builder
	for _, s := range c.nodes() {
		text.WriteString(logTail(s.log()) + "\n")
	}
	return text.String()
}

func (c *RedisCluster) discard() {
	for _, s := range c.nodes() {
		if s.running != nil && s.running.exited() {
			s.running = nil
		}
		if s.running != nil {
			_ = s.running.end(syscall.SIGKILL)
			s.running = nil
		}
		if s.port != nil {
			s.port.release()
		}
		_ = os.RemoveAll(s.dir)
	}
	for _, bus := range c.buses {
		bus.release()
	}
}
