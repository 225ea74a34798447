package redisstore

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// askTime is how long one node may take to tell who serves which slot.
const askTime = 400 * time.Millisecond

var errNoSlots = errors.New("the server knows no node that serves a slot; is it a cluster?")

// ask asks one node after the other who serves which slot, until one answers.
func (c *cluster) ask(first string) (ranges []redis.ClusterSlot, err error) {
	var failures []error
	for _, address := range c.addresses(first) {
		opts := c.options(address)
		opts.PoolSize = 1
		client := redis.NewClient(opts)
		ctx, cancel := context.WithTimeout(c.life, askTime)
		ranges, err = client.ClusterSlots(ctx).Result()
		cancel()
		_ = client.Close()
		ranges = slices.DeleteFunc(ranges, func(r redis.ClusterSlot) bool { return len(r.Nodes) == 0 })
		if err == nil && len(ranges) == 0 {
			err = errNoSlots
		}
		if err == nil {
			completeAddresses(ranges, address)
			return ranges, nil
		}
		failures = append(failures, err)
		if c.life.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failures...)
}

// addresses are whom to ask: first the one who must know, then all that were in the last table, then those that were configured.
func (c *cluster) addresses(first string) []string {
	var known []string
	if t := c.table.Load(); t != nil {
		for _, r := range t.ranges {
			for _, n := range r.Nodes {
				known = append(known, n.Addr)
			}
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	rand.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	var all []string
	for _, address := range slices.Concat([]string{first}, known, c.seeds) {
		if address != "" && !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return all
}

// completeAddresses puts what a node did not say of an address, because it is that of its own, or what it cannot know.
func completeAddresses(ranges []redis.ClusterSlot, from string) {
	fromHost, fromPort, err := net.SplitHostPort(from)
	if err != nil {
		return
	}
	for _, r := range ranges {
		for i := range r.Nodes {
			host, port, err := net.SplitHostPort(r.Nodes[i].Addr)
			if err != nil {
				continue
			}
			if port == "0" { // one that speaks TLS only
				port = fromPort
			}
			r.Nodes[i].Addr = net.JoinHostPort(cmp.Or(host, fromHost), port)
		}
	}
}
