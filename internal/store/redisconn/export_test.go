package redisconn

import (
	"context"
	"fmt"
	"net"
	"runtime"

	"github.com/redis/go-redis/v9"
)

// MaxCalls and BatchCalls are the bounds of a queue. CallsBeside is the number of waiting calls that starts a second sender.
const (
	MaxCalls    = maxCalls
	BatchCalls  = batchCalls
	CallsBeside = callsBeside
)

// The errors for invalid URLs.
var (
	ErrURL          = errURL
	ErrClusterURL   = errClusterURL
	ErrSentinelURL  = errSentinelURL
	ErrSeveralHosts = errSeveralHosts
)

// Hold holds small calls until release, which sends them and returns when none waits.
func (c *Client) Hold() (release func()) {
	for !c.only.quick.hold() {
		runtime.Gosched()
	}
	return func() {
		q := c.only.quick
		q.mu.Lock()
		q.senders = 1
		q.mu.Unlock()
		q.send()
	}
}

// hold takes the places of all senders, once the earlier ones have ended.
func (q *queue) hold() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.senders > 0 {
		return false
	}
	q.senders = batchesAtOnce
	return true
}

// Waiting returns the numbers of waiting small calls and of goroutines that send them.
func (c *Client) Waiting() (calls, senders int) {
	q := c.only.quick
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting), q.senders
}

// LoadOnly makes the server forget all scripts except one.
func (c *Client) LoadOnly(ctx context.Context, name string) error {
	on, err := c.only.server(ctx, nil)
	if err == nil {
		err = c.ScriptFlush(ctx).Err()
	}
	if err != nil {
		return err
	}
	err = fmt.Errorf("no script %s", name)
	for _, sc := range scripts {
		if sc.name == name {
			if err = c.ScriptLoad(ctx, sc.textFor(on)).Err(); err != nil {
				return err
			}
		}
	}
	return err
}

// Through makes a client connect to each server by another address from now on. Known nodes of a cluster keep theirs.
func (c *Client) Through(address func(string) string) {
	through := func(opts *redis.Options) {
		opts.Dialer = func(ctx context.Context, network, of string) (net.Conn, error) {
			return (&net.Dialer{Timeout: opts.DialTimeout}).DialContext(ctx, network, address(of))
		}
	}
	if c.only != nil {
		through(c.only.Options())
		return
	}
	options := c.cluster.options
	c.cluster.options = func(of string) *redis.Options {
		opts := options(of)
		through(opts)
		return opts
	}
}

// Look makes a cluster's client ask the masters for their identities.
func (c *Client) Look(ctx context.Context) { c.cluster.look(ctx) }

// NodeOptions returns the options of a cluster's node.
func (c *Client) NodeOptions(address string) *redis.Options { return c.cluster.options(address) }
