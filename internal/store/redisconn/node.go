package redisconn

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/fault"
)

// node is one Redis server at one address: a connection pool that knows which life of the server it talks to. A server that restarts after a
// crash, or a replica that takes over, may hold older data. So each life has an identity, and each script has another digest for each life. A
// script that is sent to another life gets NOSCRIPT and does not run, at no extra round trip (ADR 6).
type node struct {
	*redis.Client
	*shared
	gate       *gate
	masterOnly bool // reject a replica: sentinels name the master, and may be wrong for a moment

	quick, slow *queue        // slow is for changes that wait for replicas, which must not hold up reads
	entered     chan struct{} // one element for each change outside of batches that waits for replicas

	current atomic.Pointer[server]
	// doubts counts answers after which the server may have changed without a new connection. settled is the value of doubts that the last
	// identification covers.
	doubts, settled atomic.Int64
	turn            chan struct{} // a mutex for loading scripts, as a channel so that waiting callers can give up
}

// shared holds what all nodes of a client have in common.
type shared struct {
	silence time.Duration // how long a server may be silent
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

// alive checks that the server answers; a recent answer to another command counts. If the server answers reads and rejects changes, the error is
// its refusal. PING would not show that: only a server that cannot save to its disk rejects PING.
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
