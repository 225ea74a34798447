package redisstore

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Client is how everything here and in package ratelimit talks to Redis, which is one server or a cluster. What it is given
// is sent to where its key is, on a cluster too, and never again unless Redis said that it did not run. On a cluster a command
// without a key and a transaction are errors, and commands of one pipeline go to different nodes in no order.
type Client struct {
	redis.UniversalClient
	only      *node      // nil on a cluster
	sentinels *sentinels // which find it; nil without
	cluster   *cluster   // nil with one server
}

func newSingle(n *node) *Client { return &Client{UniversalClient: n.Client, only: n} }

// newClustered gives a cluster the form of a go-redis client. That one's own connections are used for pub/sub only.
func newClustered(c *cluster) *Client {
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
	return &Client{UniversalClient: outer, cluster: c}
}

// onNodeOf calls send with the node that holds the key. On a cluster it may call it again, after send has returned that nothing
// ran (directionOf), with another node or the same; with asking, the node must be told that it is asked (processAsking).
func (c *Client) onNodeOf(ctx context.Context, key string, send func(ctx context.Context, n *node, asking bool) error) error {
	if c.only != nil {
		return send(ctx, c.only, false)
	}
	return c.cluster.follow(ctx, slotOf(key), send)
}

// byNode groups keys by the node that holds each at the moment; nil is that of keys in slots that nobody serves.
func (c *Client) byNode(ctx context.Context, keys []string) (map[*node][]string, error) {
	if c.only != nil {
		return map[*node][]string{c.only: keys}, nil
	}
	table, err := c.cluster.slotTable(ctx)
	if err != nil {
		return nil, err
	}
	parts := map[*node][]string{}
	for _, key := range keys {
		n := table.nodes[slotOf(key)]
		parts[n] = append(parts[n], key)
	}
	return parts, nil
}

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

// eachMaster calls ask with every master at the same time and returns what each of them said.
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

// PoolStats are those of the server; of a cluster the sums of TotalConns and IdleConns, and nothing else.
func (c *Client) PoolStats() *redis.PoolStats {
	if c.only != nil {
		return c.only.PoolStats()
	}
	sum := &redis.PoolStats{}
	for _, n := range c.cluster.all() {
		stats := n.PoolStats()
		sum.TotalConns += stats.TotalConns
		sum.IdleConns += stats.IdleConns
	}
	return sum
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
