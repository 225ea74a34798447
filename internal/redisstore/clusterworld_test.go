package redisstore_test

import (
	"strings"
	"testing"

	"levelboard/internal/redisstore"
	"levelboard/internal/signin"
	"levelboard/internal/storetest"
	"levelboard/internal/testenv"
)

// clustered is a cluster, seen by one test.
type clustered struct {
	*testing.T
	*testenv.RedisCluster
	client *redisstore.Client
}

func newClustered(t *testing.T) *clustered {
	t.Helper()
	c := testenv.Cluster(t, testenv.WithPassword("p@ss:w/rd"))
	return &clustered{T: t, RedisCluster: c, client: connectCluster(t, c.URL())}
}

func connectCluster(t *testing.T, url string) *redisstore.Client {
	t.Helper()
	client, err := redisstore.Connect(url, redisstore.ConnectOptions{Cluster: true, Timeout: patience})
	ok(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// empty removes all keys.
func (c *clustered) empty(t *testing.T) {
	t.Helper()
	for _, master := range c.Masters {
		ok(t, direct(t, master).FlushAll(t.Context()).Err())
	}
}

// master is the one of the first masters that serves the slot of a key.
func (c *clustered) master(key string) *testenv.RedisServer {
	c.Helper()
	for _, s := range c.Masters {
		if owns(c.T, s, slotOf(c.T, s, key)) {
			return s
		}
	}
	c.Fatalf("no master serves %s", key)
	return nil
}

// another is a master that is not that one.
func (c *clustered) another(than *testenv.RedisServer) *testenv.RedisServer {
	if c.Masters[0] == than {
		return c.Masters[1]
	}
	return c.Masters[0]
}

func slotOf(t *testing.T, s *testenv.RedisServer, key string) int64 {
	t.Helper()
	slot, err := direct(t, s).ClusterKeySlot(t.Context(), key).Result()
	ok(t, err)
	return slot
}

// owns reports whether the server takes the slot for its own.
func owns(t *testing.T, s *testenv.RedisServer, slot int64) bool {
	t.Helper()
	client := direct(t, s)
	id := client.Do(t.Context(), "cluster", "myid").Val()
	for _, r := range client.ClusterSlots(t.Context()).Val() {
		if int64(r.Start) <= slot && slot <= int64(r.End) {
			return r.Nodes[0].ID == id
		}
	}
	return false
}

// beginMove makes a slot one that is on its way.
func (c *clustered) beginMove(slot int64, from, to *testenv.RedisServer) {
	c.Helper()
	ok(c.T, direct(c.T, to).Do(c.Context(), "cluster", "setslot", slot, "importing", c.ID(from)).Err())
	ok(c.T, direct(c.T, from).Do(c.Context(), "cluster", "setslot", slot, "migrating", c.ID(to)).Err())
}

// moveKeys moves keys of a slot on its way, all without any named.
func (c *clustered) moveKeys(slot int64, from, to *testenv.RedisServer, keys ...string) {
	c.Helper()
	source := direct(c.T, from)
	if len(keys) == 0 {
		keys = source.ClusterGetKeysInSlot(c.Context(), int(slot), 10_000).Val()
	}
	host, port, _ := strings.Cut(to.Addr(), ":")
	for _, key := range keys {
		ok(c.T, source.Do(c.Context(), "migrate", host, port, key, 0, 20_000, "auth", "p@ss:w/rd").Err())
	}
}

// endMove gives the slot to its new master, and tells only the two of them: the rest hears of it by itself.
func (c *clustered) endMove(slot int64, from, to *testenv.RedisServer) {
	c.Helper()
	for _, s := range []*testenv.RedisServer{to, from} {
		ok(c.T, direct(c.T, s).Do(c.Context(), "cluster", "setslot", slot, "node", c.ID(to)).Err())
	}
}

// move moves a slot with its keys.
func (c *clustered) move(slot int64, from, to *testenv.RedisServer) {
	c.Helper()
	c.beginMove(slot, from, to)
	c.moveKeys(slot, from, to)
	c.endMove(slot, from, to)
}

func TestConformanceOnCluster(t *testing.T) {
	c := newClustered(t)
	storetest.Board(t, func(t *testing.T) storetest.Store {
		c.empty(t)
		return redisstore.New(c.client, redisstore.Options{})
	})
}

func TestSessionsOnCluster(t *testing.T) {
	c := newClustered(t)
	storetest.Sessions(t, func(t *testing.T) signin.Store {
		c.empty(t)
		return redisstore.New(c.client, redisstore.Options{})
	})
}
