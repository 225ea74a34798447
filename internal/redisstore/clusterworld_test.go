package redisstore_test

import (
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

func TestConformanceOnCluster(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	storetest.Board(t, func(t *testing.T) storetest.Store {
		c.empty(t)
		return redisstore.New(c.client, redisstore.Options{})
	})
}

func TestSessionsOnCluster(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	storetest.Sessions(t, func(t *testing.T) signin.Store {
		c.empty(t)
		return redisstore.New(c.client, redisstore.Options{})
	})
}
