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
	// nodeTimeout is the time after which a silent node counts as dead: long enough for a busy machine, short enough to wait for.
	nodeTimeout = 2 * time.Second
	// joinTimeout is the time for all nodes to serve, which usually takes two seconds.
	joinTimeout = 25 * time.Second
	lastSlot    = 16383
)

// RedisCluster is a private Redis Cluster on loopback: three masters, and a replica
// of each. It keeps nothing on disk, so a node that was killed comes back
// empty.
type RedisCluster struct {
	// Masters and Replicas are the nodes by their first roles. The replica of a
	// master has the same index.
	Masters, Replicas []*RedisServer

	tb    testing.TB
	buses []*port
	ids   []string
}

// Cluster starts a new cluster and returns when all of it serves. It stops when the
// test ends. If it cannot be started, the test fails. The start takes two to three
// seconds, because a new master waits that long.
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
		// Another program may have taken a port, and on a busy machine the nodes may have declared each other dead.
		if attempt == 4 {
			tb.Fatalf("starting a Redis Cluster: %v\n%s", err, logs)
		}
		tb.Logf("starting a Redis Cluster, attempt %d: %v", attempt, err)
	}
}

// URL returns the address of all nodes: redis://[:password@]host:port,host:port.../0,
// or rediss:// with [WithTLS].
func (c *RedisCluster) URL() string { return c.all(c.Masters[0].URL()) }

// URLFor returns the address of all nodes for a user, as [RedisServer.URLFor] does.
func (c *RedisCluster) URLFor(user, password string) string {
	return c.all(c.Masters[0].URLFor(user, password))
}

// all replaces the first node by all nodes in a URL.
func (c *RedisCluster) all(url string) string {
	var hosts []string
	for _, s := range c.nodes() {
		hosts = append(hosts, s.Addr())
	}
	return strings.Replace(url, c.Masters[0].Addr(), strings.Join(hosts, ","), 1)
}

// id returns a node's name in the cluster.
func (c *RedisCluster) id(node *RedisServer) string {
	for i, s := range c.nodes() {
		if s == node {
			return c.ids[i]
		}
	}
	return ""
}

// ReplicaOf returns the first replica of a first master.
func (c *RedisCluster) ReplicaOf(master *RedisServer) *RedisServer {
	c.tb.Helper()
	i := slices.Index(c.Masters, master)
	if i < 0 {
		c.tb.Fatal("ReplicaOf needs one of the first masters")
	}
	return c.Replicas[i]
}

func (c *RedisCluster) nodes() []*RedisServer {
	return append(append([]*RedisServer{}, c.Masters...), c.Replicas...)
}

// newCluster reserves the ports and writes what each node would have learned of
// the others by meeting them, which saves the time of the meeting.
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
			"cluster-replica-validity-factor 0", // a replica may be promoted with data of any age
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

// view returns the file in which a node keeps its view of the cluster.
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
	// A replica that is not online yet is connected, but does not count for WAIT.
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
