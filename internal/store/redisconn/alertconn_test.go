package redisconn_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
)

// Redis sends session tickets after the handshake. On an unused connection they are unread, and go-redis's pool may take them for the start
// of a reply and wait for the rest while it holds its lock. Its clients of sentinels do.
func TestATLSTicketIsNotTakenForAReply(t *testing.T) {
	t.Parallel()
	ca := testenv.NewCA(t)
	server := testenv.Redis(t, testenv.WithTLS(ca, ca.Loopback()))
	ours, err := redisconn.Connect(server.URL(), redisconn.ConnectOptions{TLS: clientTLS(t, ca)})
	ok(t, err)
	defer ours.Close()
	client := redis.NewClient(&redis.Options{
		Addr: server.Addr(), Dialer: ours.UniversalClient.(*redis.Client).Options().Dialer, Protocol: 3, MinIdleConns: 8,
	})
	testenv.Wait(t, "there are unused connections", func() bool { return client.PoolStats().IdleConns == 8 })
	ok(t, client.Ping(t.Context()).Err())
	closed := make(chan error, 1)
	go func() { closed <- client.Close() }()
	err, _ = testenv.Receive(t, closed, "the pool closes")
	ok(t, err)
}
