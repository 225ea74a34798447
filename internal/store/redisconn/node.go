package redisconn

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/fault"
)

// node is one Redis server at one address: a connection pool that knows which life of the server it talks to. A server that comes back
// from a crash, or a replica that takes over, may hold older data. So each life has an identity, and a script has a digest of its own for
// each: sent to another life it is NOSCRIPT, and nothing has run, at no extra round trip (ADR 6).
type node struct {
	*redis.Client
	*shared
	gate       *gate
	masterOnly bool // a replica is not taken for the server: sentinels name the master, and may be wrong for a moment

	quick, slow *queue        // slow is for changes that wait for replicas, which must not hold up reads
	entered     chan struct{} // holds one for each change sent by itself that waits for replicas

	current atomic.Pointer[server]
	// What was heard may say that the server is another one by now, without a new connection: how often, and how many of those
	// times it was asked since.
	doubts, settled atomic.Int64
	turn            chan struct{} // holds one while scripts are loaded; a caller that waits for a mutex could not give up
}

// shared is the part that all nodes of a client have in common.
type shared struct {
	silence time.Duration // for how long a server may be silent
	waiting Waiting
	metrics *scriptMetrics
}

// newNode makes a node for clientOptions, with the client that connect returns.
func newNode(opts *redis.Options, s *shared, connect func(*redis.Options) *redis.Client) *node {
	n := &node{shared: s, turn: make(chan struct{}, 1), entered: make(chan struct{}, waitingRuns), gate: newGate(opts.PoolSize, s.silence)}
	n.quick = &queue{node: n, atOnce: batchesAtOnce, beside: callsBeside}
	n.slow = &queue{node: n, atOnce: waitingBatches, beside: 1}
	opts.OnConnect = func(ctx context.Context, on *redis.Conn) error { return n.identify(ctx, on, nil) }
	n.Client = connect(opts)
	n.AddHook(n.gate)
	n.AddHook(noRetries{})
	return n
}

// doubt makes the next call ask for the server's identity.
func (n *node) doubt() { n.doubts.Add(1) }

// alive asks for a sign of life; a recent answer to another command counts. The error is the refusal of a server that answers reads and rejects
// changes: PING alone is rejected only by a server that cannot save to its disk.
func (n *node) alive(ctx context.Context) error {
	began := time.Now()
	pipeline := n.Pipeline()
	ping, write := pipeline.Ping(ctx), pipeline.Eval(ctx, writing, nil)
	_, err := pipeline.Exec(ctx)
	switch {
	case fault.ChangesRefused(write.Err()) != "":
		return write.Err()
	case ping.Val() != "", errors.Is(err, context.DeadlineExceeded) && n.gate.lastHeard().After(began):
		return nil
	default:
		return err
	}
}
