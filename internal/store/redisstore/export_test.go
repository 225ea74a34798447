package redisstore

import (
	"context"
	"fmt"
	"net"
	"runtime"

	"github.com/redis/go-redis/v9"
)

// MaxCalls and BatchCalls are the bounds of the coalescer, and CallsBeside is how many calls must wait to be sent beside others.
const (
	MaxCalls    = maxCalls
	BatchCalls  = batchCalls
	CallsBeside = callsBeside
)

// Hold makes small calls wait until release, which sends them and returns when none waits.
func (s *Store) Hold() (release func()) {
	for !s.hold() {
		runtime.Gosched()
	}
	return func() {
		s.calls.only.mu.Lock()
		s.calls.only.senders = 1
		s.calls.only.mu.Unlock()
		s.calls.only.send()
	}
}

// hold takes the places of all senders, once those before have found that nobody waits.
func (s *Store) hold() bool {
	s.calls.only.mu.Lock()
	defer s.calls.only.mu.Unlock()
	if s.calls.only.senders > 0 {
		return false
	}
	s.calls.only.senders = batchesAtOnce
	return true
}

// Waiting is how many small calls wait, and how many goroutines send them.
func (s *Store) Waiting() (calls, senders int) {
	s.calls.only.mu.Lock()
	defer s.calls.only.mu.Unlock()
	return len(s.calls.only.waiting), s.calls.only.senders
}

// LoadOnly makes the server forget all scripts but one.
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
			if err = c.ScriptLoad(ctx, sc.textFor(on.identity)).Err(); err != nil {
				return err
			}
		}
	}
	return err
}

// SlotOf is the slot of a key.
func SlotOf(key string) int { return slotOf(key) }

// Through makes a cluster's client connect to each node by another address, from now on: nodes that it knows keep theirs.
func (c *Client) Through(address func(string) string) {
	options := c.cluster.options
	c.cluster.options = func(of string) *redis.Options {
		opts := options(of)
		opts.Dialer = func(ctx context.Context, network, of string) (net.Conn, error) {
			return (&net.Dialer{Timeout: opts.DialTimeout}).DialContext(ctx, network, address(of))
		}
		return opts
	}
}

// Nodes is how many nodes of a cluster are open.
func (c *Client) Nodes() int { return len(c.cluster.all()) }

// Look is what a cluster's client does from time to time.
func (c *Client) Look(ctx context.Context) { c.cluster.look(ctx) }

// LeaveAtOnce makes a cluster's client close a node the second time that it is not among the masters.
func (c *Client) LeaveAtOnce() { c.cluster.leaves = 0 }

// NodeOptions are those of a node of a cluster.
func (c *Client) NodeOptions(address string) *redis.Options { return c.cluster.options(address) }

// Client is what the store speaks by.
func (s *Store) Client() *Client { return s.client }

// CompleteAddress is the address that a node means which tells a part of it.
func CompleteAddress(address, from string) string { return completeAddress(address, from) }
