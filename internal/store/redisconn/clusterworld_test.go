package redisconn_test

import (
	"strings"
	"testing"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/signin"
)

// clustered is a cluster used by one test.
type clustered struct {
	*testing.T
	*testenv.RedisCluster
	client *redisconn.Client
}

func newClustered(t *testing.T) *clustered {
	t.Helper()
	c := testenv.Cluster(t, testenv.WithPassword("p@ss:w/rd"))
	return &clustered{T: t, RedisCluster: c, client: connectCluster(t, c.URL())}
}

func connectCluster(t *testing.T, url string) *redisconn.Client {
	t.Helper()
	client, err := redisconn.Connect(url, redisconn.ConnectOptions{Cluster: true, Timeout: patience})
	ok(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// empty removes all keys.
func (c *clustered) empty(t *testing.T) {
	t.Helper()
	for _, master := range c.Masters {
		err := direct(t, master).FlushAll(t.Context()).Err()
		if err != nil && strings.HasPrefix(err.Error(), "READONLY") { // on a busy machine its replica may be promoted
			err = direct(t, c.ReplicaOf(master)).FlushAll(t.Context()).Err()
		}
		ok(t, err)
	}
}

// Tests that leave the cluster intact share it.
func TestOnACluster(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	t.Run("board", func(t *testing.T) {
		storetest.SmokeBoard(t, func(t *testing.T) storetest.Store {
			c.empty(t)
			return newBoard(c.client)
		})
	})
	t.Run("sessions", func(t *testing.T) {
		storetest.Sessions(t, func(t *testing.T) signin.Store {
			c.empty(t)
			return newBoard(c.client)
		})
	})
	for _, test := range []struct {
		name string
		run  func(t *testing.T, c *clustered)
	}{
		{"guilds of all masters", guildsOfAllMasters},
		{"a nudge reaches other clients", nudgeOverACluster},
		{"a lost reply is never repeated", sentOnceOnACluster},
		{"missing scripts are loaded", scriptsAreMissing},
		{"a slot may move", slotOnItsWay},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.empty(t)
			test.run(t, &clustered{T: t, RedisCluster: c.RedisCluster, client: c.client})
		})
	}
}
