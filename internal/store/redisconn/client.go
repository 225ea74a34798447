// Package redisconn connects to Redis 7.0 or newer: one server, one that sentinels know, a cluster, or the in-process Redis of
// package embedded. It runs scripts on the server that they were made for, alone or together with those of others, waits for replicas, and
// never sends a command again that may have run. go-redis finds the masters.
//
//	client.go     Client: Run, Share and RunEach make calls; masters.go what is asked of each server
//	call.go       Call, and how calls become commands and answers
//	queue.go      small calls of concurrent requests, sent together
//	gate.go       the bound on commands under way, and the patience with a silent server
//	script.go     scripts; server.go which life of a server they are for; wait.go WAIT
//	connect.go    URLs and options; dial.go and credentials.go each new connection; sentinel.go and cluster.go what go-redis does not do
//	repeat.go     commands that surely did not run and are sent again, and the ban on all other retries
//	metrics.go    the metrics, with condition.go
//
// It does not know what a script does or what is in a key: boards, guilds and members are redisstore's.
package redisconn

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"
)

// Client is the stores' only way to Redis, one server or a cluster. It sends a command to the master of its key, and repeats it only
// if Redis said that it did not run. On a cluster a pipeline has no order.
type Client struct {
	redis.UniversalClient
	*shared
	tracer  trace.Tracer // nil: no spans
	only    *node        // nil on a cluster
	cluster *cluster     // nil with one server
}

// Run makes a call by itself. After an error the script may have run, unless the error is a Refusal or says that it was not sent. Run repeats a call
// only after NOSCRIPT and a cluster's redirections (directionOf).
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

// Share makes a small call, together with concurrent ones (queue). Its promises are those of Run.
func (c *Client) Share(ctx context.Context, call *Call) error {
	return c.make(ctx, call, func(ctx context.Context, n *node) {
		if n.waits(call.Script) {
			n.slow.do(ctx, call)
		} else {
			n.quick.do(ctx, call)
		}
	})
}

// make sends a call to the node of its keys, and follows a cluster's redirections.
func (c *Client) make(ctx context.Context, call *Call, send func(ctx context.Context, n *node)) error {
	began := time.Now()
	if c.only != nil {
		send(ctx, c.only)
	} else {
		call.Err = c.cluster.follow(ctx, call.Keys[0], func(ctx context.Context, n *node, asking bool) error {
			call.asking = asking
			send(ctx, n)
			return call.Err
		})
	}
	c.observe(ctx, call.Script, began, call.Err)
	return call.Err
}

// observe records how long a caller waited for a script, and the result.
func (c *Client) observe(ctx context.Context, sc *Script, began time.Time, err error) {
	c.metrics.observe(sc, time.Since(began), err)
	if c.tracer != nil {
		traceRun(ctx, c.tracer, sc.name, began, err)
	}
}

// eachPipeline is how many calls RunEach sends in one round trip.
const eachPipeline = 500

// RunEach makes calls of one script, many in one round trip to each node. No two may have the same first key. Each call gets its reply or its
// error. A node that does not respond is asked once, and all of its calls get that error.
func (c *Client) RunEach(ctx context.Context, calls []*Call) {
	if len(calls) == 0 {
		return
	}
	began := time.Now()
	if parts, err := c.byNode(ctx, calls); err != nil {
		fail(calls, err)
	} else {
		var asked sync.WaitGroup
		for n, part := range parts {
			asked.Go(func() { c.sendEach(ctx, n, part) })
		}
		asked.Wait()
	}
	for _, call := range calls {
		if !nothingRan(call.Err) || !answered(call.Err) {
			continue
		}
		if c.Run(ctx, call); !answered(call.Err) || nothingRan(call.Err) {
			break // that took all patience; the others would wait for as long
		}
	}
	var first error
	for _, call := range calls {
		first = cmp.Or(first, call.Err)
	}
	c.observe(ctx, calls[0].Script, began, first)
}

// sendEach makes calls to one node, and stops when the node does not answer.
func (c *Client) sendEach(ctx context.Context, n *node, calls []*Call) {
	for len(calls) > 0 {
		part := calls[:min(eachPipeline, len(calls))]
		calls = calls[len(part):]
		n.send(ctx, time.Now(), n.gate.patience(ctx), part)
		if err := part[len(part)-1].Err; !answered(err) {
			fail(calls, err)
			if c.cluster != nil {
				c.cluster.heard(ctx, err)
			}
			return
		}
	}
}

// byNode groups calls by the node that holds their keys at the moment.
func (c *Client) byNode(ctx context.Context, calls []*Call) (map[*node][]*Call, error) {
	if c.only != nil {
		return map[*node][]*Call{c.only: calls}, nil
	}
	parts := map[*node][]*Call{}
	for _, call := range calls {
		n, err := c.cluster.masterOf(ctx, call.Keys[0])
		if err != nil {
			return nil, err
		}
		parts[n] = append(parts[n], call)
	}
	return parts, nil
}
