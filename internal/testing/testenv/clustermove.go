package testenv

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SlotOf returns the slot of a key.
func (c *RedisCluster) SlotOf(key string) int {
	c.tb.Helper()
	for _, s := range c.nodes() {
		if s.running == nil {
			continue
		}
		slot, err := strconv.Atoi(c.must(s, "CLUSTER", "KEYSLOT", key))
		if err != nil {
			c.tb.Fatalf("asking for the slot of %s: %v", key, err)
		}
		return slot
	}
	c.tb.Fatal("no node of the cluster is running")
	return 0
}

// Owner returns the node that serves a slot by its own view, and waits for one
// if none does. Paused nodes are not asked.
func (c *RedisCluster) Owner(slot int) *RedisServer {
	c.tb.Helper()
	var owner *RedisServer
	Wait(c.tb, fmt.Sprintf("a node that serves slot %d", slot), func() bool {
		for _, s := range c.nodes() {
			if s.running != nil && !s.paused && c.owns(s, slot) {
				owner = s
			}
		}
		return owner != nil
	})
	return owner
}

// owns reads the node's own line.
func (c *RedisCluster) owns(s *RedisServer, slot int) bool {
	_, owns := c.seen(s, s, slot)
	return owns
}

// seen returns what a node knows of another one, or of itself: the configuration epoch, and whether it is a master with the slot.
func (c *RedisCluster) seen(by, node *RedisServer, slot int) (epoch string, owns bool) {
	nodes, err := by.Ask("CLUSTER", "NODES")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(nodes) {
		words := strings.Fields(line)
		if len(words) < 8 || words[0] != c.id(node) || !strings.Contains(words[2], "master") {
			continue
		}
		for _, r := range words[8:] { // its ranges of slots
			first, last, isRange := strings.Cut(r, "-")
			if !isRange {
				last = first
			}
			from, errFrom := strconv.Atoi(first)
			to, errTo := strconv.Atoi(last)
			if errFrom == nil && errTo == nil && from <= slot && slot <= to {
				return words[6], true
			}
		}
	}
	return "", false
}

// Another returns one of the first masters, other than than.
func (c *RedisCluster) Another(than *RedisServer) *RedisServer {
	if c.Masters[0] == than {
		return c.Masters[1]
	}
	return c.Masters[0]
}

// BeginMove marks a slot as moving, as redis-cli does.
func (c *RedisCluster) BeginMove(slot int, from, to *RedisServer) {
	c.tb.Helper()
	c.must(to, "CLUSTER", "SETSLOT", strconv.Itoa(slot), "IMPORTING", c.id(from))
	c.must(from, "CLUSTER", "SETSLOT", strconv.Itoa(slot), "MIGRATING", c.id(to))
}

// MoveKeys moves these keys of a moving slot, or all keys if none are given.
func (c *RedisCluster) MoveKeys(slot int, from, to *RedisServer, keys ...string) {
	c.tb.Helper()
	if len(keys) == 0 {
		keys = strings.Fields(c.must(from, "CLUSTER", "GETKEYSINSLOT", strconv.Itoa(slot), "10000"))
	}
	host, port, err := net.SplitHostPort(to.Addr())
	if err != nil {
		c.tb.Fatal(err)
	}
	for _, key := range keys {
		move := []string{"MIGRATE", host, port, key, "0", strconv.FormatInt(askTimeout.Milliseconds(), 10)}
		if to.password != "" {
			move = append(move, "AUTH", to.password)
		}
		c.must(from, move...)
	}
}

// EndMove gives the slot to its new owner, and tells only the two nodes.
func (c *RedisCluster) EndMove(slot int, from, to *RedisServer) {
	c.tb.Helper()
	for _, s := range []*RedisServer{to, from} {
		c.must(s, "CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", c.id(to))
	}
}

// Move moves a slot with all its keys, and returns when all nodes know. A node that does not know may use the same epoch at the next move, and
// in the end nobody has the slot.
func (c *RedisCluster) Move(slot int, from, to *RedisServer) {
	c.tb.Helper()
	c.BeginMove(slot, from, to)
	// New keys are created on the new node once none is left, so these are all.
	c.MoveKeys(slot, from, to)
	c.EndMove(slot, from, to)
	Wait(c.tb, fmt.Sprintf("nodes that agree on who has slot %d", slot), func() bool { return c.agreed(slot, to) })
}

// agreed reports whether all running nodes know the slot's owner as that node knows itself.
func (c *RedisCluster) agreed(slot int, owner *RedisServer) bool {
	want, owns := c.seen(owner, owner, slot)
	for _, s := range c.nodes() {
		if s.running == nil {
			continue
		}
		if epoch, has := c.seen(s, owner, slot); epoch != want || !has {
			return false
		}
	}
	return owns
}

func (c *RedisCluster) must(s *RedisServer, args ...string) string {
	c.tb.Helper()
	answer, err := s.Ask(args...)
	if err != nil {
		c.tb.Fatalf("sending %s to the node at %s: %v", strings.Join(args, " "), s.Addr(), err)
	}
	return answer
}

// failoverTime is the time after which a failover is requested again. A node gives up after five seconds, and the others vote about a master
// only once within twice the nodeTimeout.
const failoverTime = 6 * time.Second

// Failover promotes the replica of a slot's master, and returns when both are in step again and all nodes know.
func (c *RedisCluster) Failover(slot int) {
	c.tb.Helper()
	nodes, master := c.nodes(), c.Owner(slot)
	replica := nodes[(slices.Index(nodes, master)+clusterMasters)%len(nodes)]
	var asked time.Time
	Wait(c.tb, "a replica that takes over", func() bool {
		if time.Since(asked) > failoverTime && !c.owns(replica, slot) {
			c.must(replica, "CLUSTER", "FAILOVER")
			asked = time.Now()
		}
		return c.agreed(slot, replica) && replica.joined() == nil && master.joined() == nil
	}, func() string { return logTail(replica.log()) })
}
