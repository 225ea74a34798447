package redisconn

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// askTime is how long one node may take to tell who serves which slot.
	askTime = 400 * time.Millisecond
	// askNext is after how long the next node is asked beside one that has not answered.
	askNext = 50 * time.Millisecond
)

var errNoSlots = errors.New("the server knows no node that serves a slot; is it a cluster?")

// told is what one node says of who serves which slot.
type told struct {
	ranges []redis.ClusterSlot
	err    error
}

// ask asks one node after the other who serves which slot, until one answers. It waits for none that hangs: so the answer is
// there soon when half of the nodes do.
func (c *cluster) ask(first string) ([]redis.ClusterSlot, error) {
	addresses := c.addresses(first)
	answers := make(chan told, len(addresses))
	next := time.NewTicker(askNext)
	defer next.Stop()
	var failures []error
	for asked := 0; ; {
		if asked < len(addresses) && c.life.Err() == nil {
			address := addresses[asked]
			c.background.Go(func() { answers <- c.askOne(address) })
			asked++
		}
		select {
		case answer := <-answers:
			if answer.err == nil {
				return answer.ranges, nil
			}
			if failures = append(failures, answer.err); len(failures) == len(addresses) || c.life.Err() != nil {
				return nil, errors.Join(failures...)
			}
		case <-next.C:
		case <-c.life.Done():
			return nil, errors.Join(append(failures, redis.ErrClosed)...)
		}
	}
}

func (c *cluster) askOne(address string) (t told) {
	opts := c.options(address)
	opts.PoolSize = 2 // with 1 the pool would keep dialling, in the background, a node that is away
	client := redis.NewClient(opts)
	defer client.Close()
	ctx, cancel := context.WithTimeout(c.life, askTime)
	defer cancel()
	//lint:ignore SA1019 every cluster answers it, hosted ones and proxies too, and nothing else of CLUSTER SHARDS is needed
	t.ranges, t.err = client.ClusterSlots(ctx).Result()
	t.ranges = slices.DeleteFunc(t.ranges, func(r redis.ClusterSlot) bool { return len(r.Nodes) == 0 })
	if t.err == nil && len(t.ranges) == 0 {
		t.err = errNoSlots
	}
	completeAddresses(t.ranges, address)
	return t
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

// completeAddresses fills in what the asked node left out of addresses: its own host, and the port of a node that speaks TLS
// only.
func completeAddresses(ranges []redis.ClusterSlot, from string) {
	for _, r := range ranges {
		for i := range r.Nodes {
			r.Nodes[i].Addr = completeAddress(r.Nodes[i].Addr, from)
		}
	}
}

// completeAddress takes the host and the port that the node at from did not tell from its own address.
func completeAddress(address, from string) string {
	fromHost, fromPort, err := net.SplitHostPort(from)
	if err != nil {
		return address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if port == "0" { // one that speaks TLS only
		port = fromPort
	}
	return net.JoinHostPort(cmp.Or(host, fromHost), port)
}

// withHost undoes what a go-redis cluster client makes of a node on loopback that it was told of by a function: an address without
// a host, whose certificate nobody can verify.
func (c *cluster) withHost(address string) string {
	t := c.table.Load()
	if t == nil || !strings.HasPrefix(address, ":") {
		return address
	}
	for _, r := range t.ranges {
		for _, n := range r.Nodes {
			if strings.HasSuffix(n.Addr, address) {
				return n.Addr
			}
		}
	}
	return address
}
