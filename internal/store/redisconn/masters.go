package redisconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/fault"
)

// masters are the servers that hold guilds.
func (c *Client) masters(ctx context.Context) ([]*node, error) {
	if c.only != nil {
		return []*node{c.only}, nil
	}
	table, err := c.cluster.slotTable(ctx)
	if err != nil {
		return nil, err
	}
	return table.masters, nil
}

// EachMaster calls ask with every master at the same time and returns the errors, joined.
func (c *Client) EachMaster(ctx context.Context, ask func(master *redis.Client) error) error {
	answers, err := c.eachMaster(ctx, func(n *node) error { return ask(n.Client) })
	if err != nil {
		return err
	}
	return errors.Join(answers...)
}

// Lives names the life of each master: one that has started again, or was promoted, has another name.
func (c *Client) Lives(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	var lives []string
	answers, err := c.eachMaster(ctx, func(n *node) error {
		s, err := n.server(ctx, nil)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		lives = append(lives, s.identity)
		return nil
	})
	slices.Sort(lives)
	return lives, errors.Join(append(answers, err)...)
}

func (c *Client) eachMaster(ctx context.Context, ask func(n *node) error) ([]error, error) {
	masters, err := c.masters(ctx)
	if err != nil {
		return nil, err
	}
	if c.only != nil {
		return []error{ask(c.only)}, nil
	}
	errs := make([]error, len(masters))
	var asked sync.WaitGroup
	for i, n := range masters {
		asked.Go(func() { errs[i] = ask(n) })
	}
	asked.Wait()
	for _, err := range errs {
		c.cluster.heard(ctx, err)
	}
	return errs, nil
}

// Alive asks for a sign of life. When ctx ends before there is a connection free, one that the server gave to another meanwhile will do. Of a
// cluster, more than half of the masters have to answer, as for the cluster itself. The error of a server that answers reads and refuses
// changes, on a cluster of any master, is its refusal (fault.ChangesRefused).
func (c *Client) Alive(ctx context.Context) error {
	answers, err := c.eachMaster(ctx, func(n *node) error { return n.alive(ctx) })
	if err != nil {
		return fmt.Errorf("redis: ping: %w", err)
	}
	var failures, refusals []error
	for _, err := range answers {
		switch {
		case fault.ChangesRefused(err) != "":
			refusals = append(refusals, err)
		case err != nil:
			failures = append(failures, err)
		}
	}
	if 2*len(failures) >= len(answers) {
		return fmt.Errorf("redis: ping: %w", errors.Join(failures...))
	}
	return errors.Join(refusals...)
}

// writing is a script that may write and does not, which a server refuses whenever it refuses changes.
const writing = "#!lua\nreturn 1"

// PoolStats are those of the server; of a cluster the sums of TotalConns and IdleConns, and nothing else.
func (c *Client) PoolStats() *redis.PoolStats {
	if c.only != nil {
		return c.only.PoolStats()
	}
	sum := &redis.PoolStats{}
	for _, n := range c.nodes() {
		stats := n.PoolStats()
		sum.TotalConns += stats.TotalConns
		sum.IdleConns += stats.IdleConns
	}
	return sum
}

// nodes are all that are open.
func (c *Client) nodes() []*node {
	if c.only != nil {
		return []*node{c.only}
	}
	return c.cluster.all()
}
