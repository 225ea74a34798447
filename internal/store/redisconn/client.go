// Package redisconn connects to Redis 7.0 or newer: one server, one that sentinels know, a cluster, or the in-process Redis of
// package embedded. It runs scripts on the server that they were made for, alone or together with those of others, waits for replicas, and
// never sends a command again that may have run.
//
//	client.go     Client: Run, Share and RunEach make calls; masters.go what is asked of each server
//	call.go       Call, and how calls become commands and answers
//	queue.go      small calls of concurrent requests, sent together
//	gate.go       how many commands are under way, and for how long a silent server is waited for
//	script.go     scripts; server.go which life of a server they are for; wait.go WAIT
//	connect.go    URLs and options; dial.go and credentials.go each new connection; sentinel.go the master
//	cluster.go    who serves which slot; redirect.go MOVED, ASK and pauses; route.go commands that are no calls
//	metrics.go    what scrapes see, with condition.go
//
// It does not know what a script does or what is in a key: boards, guilds and members are redisstore's.
package redisconn

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"
)

// Client is how everything in the stores talks to Redis, one server or a cluster. It sends a command to where its key is, and never again
// unless Redis said that it did not run. On a cluster transactions and commands without a key are errors, and a pipeline has no order.
type Client struct {
	redis.UniversalClient
	*shared
	tracer    trace.Tracer // nil: no spans
	only      *node        // nil on a cluster
	sentinels *sentinels   // which find it; nil without
	cluster   *cluster     // nil with one server
}

func newSingle(n *node, o ConnectOptions) *Client {
	return &Client{UniversalClient: n.Client, shared: n.shared, tracer: o.Tracer, only: n}
}

// newClustered gives a cluster the form of a go-redis client. Its own connections are used for pub/sub only.
func newClustered(c *cluster, o ConnectOptions) *Client {
	opts := c.options("")
	outer := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: c.seeds,
		ClusterSlots: func(ctx context.Context) ([]redis.ClusterSlot, error) {
			t, err := c.slotTable(ctx)
			if err != nil {
				return nil, err
			}
			return t.ranges, nil
		},
		Dialer: func(ctx context.Context, network, address string) (net.Conn, error) {
			return opts.Dialer(ctx, network, c.withHost(address))
		},
		Username: opts.Username, Password: opts.Password, CredentialsProviderContext: opts.CredentialsProviderContext, TLSConfig: opts.TLSConfig,
		DialTimeout: opts.DialTimeout, DialerRetries: opts.DialerRetries, ReadTimeout: opts.ReadTimeout, WriteTimeout: opts.WriteTimeout,
		PoolSize: 1, MaxRetries: -1, ContextTimeoutEnabled: true,
		Protocol: opts.Protocol, DisableIdentity: true, MaintNotificationsConfig: opts.MaintNotificationsConfig,
	})
	outer.AddHook(route{c})
	c.changed = func() { outer.ReloadState(c.life) }
	return &Client{UniversalClient: outer, shared: c.shared, tracer: o.Tracer, cluster: c}
}

// Clustered reports whether it is a cluster, where keys with different hash tags may be on different servers.
func (c *Client) Clustered() bool { return c.cluster != nil }

// Run makes a call by itself. Unless its error says that nothing ran (a Refusal, or that it was not sent), the script may have run. It is
// repeated only after NOSCRIPT and a cluster's words for where its slot is (directionOf).
func (c *Client) Run(ctx context.Context, call *Call) error {
	return c.make(ctx, call, func(ctx context.Context, n *node) {
		arrived, patience := time.Now(), n.gate.patience(ctx)
		if n.waits(call.Script) {
			leave, err := n.enterWaiting(ctx, patience)
			if err != nil {
				call.notSent(err)
				return
			}
			defer leave()
		}
		n.send(ctx, arrived, patience, []*Call{call})
	})
}

// Share makes a small call, together with those of others (queue). Its promises are those of Run.
func (c *Client) Share(ctx context.Context, call *Call) error {
	return c.make(ctx, call, func(ctx context.Context, n *node) {
		if n.waits(call.Script) {
			n.slow.do(ctx, call)
		} else {
			n.quick.do(ctx, call)
		}
	})
}

// make sends a call to the node of its keys, and on a cluster again to where it was told that they are.
func (c *Client) make(ctx context.Context, call *Call, send func(ctx context.Context, n *node)) error {
	began := time.Now()
	if c.only != nil {
		send(ctx, c.only)
	} else {
		call.Err = c.cluster.follow(ctx, slotOf(call.Keys[0]), func(ctx context.Context, n *node, asking bool) error {
			call.asking = asking
			send(ctx, n)
			return call.Err
		})
	}
	c.observe(ctx, call.Script, began, call.Err)
	return call.Err
}

// observe notes how long a caller waited for a script, and what came of it.
func (c *Client) observe(ctx context.Context, sc *Script, began time.Time, err error) {
	c.metrics.observe(sc, time.Since(began), err)
	if c.tracer != nil {
		traceRun(ctx, c.tracer, sc.name, began, err)
	}
}

// eachPipeline is how many guilds are asked about in one round trip.
const eachPipeline = 500

// RunEach makes calls of one script, many in one round trip to each node. No two have the same first key. Each has its reply or
// its error then; those of a node that could not be asked all have that error, and such a node is asked once.
func (c *Client) RunEach(ctx context.Context, calls []*Call) {
	if len(calls) == 0 {
		return
	}
	began := time.Now()
	silent := map[*node]error{}
	for part := range slices.Chunk(calls, eachPipeline) {
		c.runPart(ctx, part, silent)
	}
	var first error
	for _, call := range calls {
		if first = call.Err; first != nil {
			break
		}
	}
	c.observe(ctx, calls[0].Script, began, first)
}

// runPart makes calls in one round trip to each node, but those to silent nodes; nil stands for slots that nobody serves. It
// adds the nodes that do not answer.
func (c *Client) runPart(ctx context.Context, calls []*Call, silent map[*node]error) {
	parts, err := c.byNode(ctx, calls)
	if err != nil {
		fail(calls, err)
		return
	}
	var asked sync.WaitGroup
	for n, part := range parts {
		switch {
		case n == nil:
			fail(part, errNoMaster)
		case silent[n] != nil:
			fail(part, silent[n])
		default:
			asked.Go(func() { n.send(ctx, time.Now(), n.gate.patience(ctx), part) })
		}
	}
	asked.Wait()
	for n, part := range parts {
		if err := part[len(part)-1].Err; !answered(err) {
			silent[n] = err
			if c.cluster != nil {
				c.cluster.heard(ctx, err)
			}
		}
	}
	for _, call := range calls {
		if !nothingRan(call.Err) || !answered(call.Err) {
			continue
		}
		if c.Run(ctx, call); !answered(call.Err) || nothingRan(call.Err) {
			return // that took all patience; the others would wait for as long
		}
	}
}

// byNode groups calls by the node that holds each at the moment; nil is that of slots that nobody serves.
func (c *Client) byNode(ctx context.Context, calls []*Call) (map[*node][]*Call, error) {
	if c.only != nil {
		return map[*node][]*Call{c.only: calls}, nil
	}
	table, err := c.cluster.slotTable(ctx)
	if err != nil {
		return nil, err
	}
	parts := map[*node][]*Call{}
	for _, call := range calls {
		n := table.nodes[slotOf(call.Keys[0])]
		parts[n] = append(parts[n], call)
	}
	return parts, nil
}

// Close closes all connections, and stops asking the sentinels.
func (c *Client) Close() error {
	if c.sentinels != nil {
		c.sentinels.stop()
	}
	if c.only != nil {
		return c.only.Close()
	}
	return errors.Join(c.UniversalClient.Close(), c.cluster.close())
}
