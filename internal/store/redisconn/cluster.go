package redisconn

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/pause"
)

const (
	// watchEvery is the interval at which each master is asked for its identity without a cause.
	watchEvery = 5 * time.Second
	// slotsTime bounds the reload of the slots before a call to all masters. After it, the slots of the last reload are used.
	slotsTime = 200 * time.Millisecond
)

// cluster is go-redis's client of a Redis Cluster, which finds the master of each key. Calls that are queued or wait for replicas use the client of
// the master's node.
type cluster struct {
	*redis.ClusterClient
	options func(address string) *redis.Options // of one node
	shared  *shared

	mu    sync.Mutex
	nodes map[string]*node // by address

	life       context.Context // ends with the client
	end        context.CancelFunc
	background sync.WaitGroup
}

func newCluster(seeds []string, s *shared, options func(address string) *redis.Options) *cluster {
	c := &cluster{options: options, shared: s, nodes: map[string]*node{}}
	c.life, c.end = context.WithCancel(context.Background())
	opts := options("")
	c.ClusterClient = redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:       seeds,
		NewClient:   func(node *redis.Options) *redis.Client { return c.node(node.Addr, true).Client },
		ReadTimeout: opts.ReadTimeout, WriteTimeout: opts.WriteTimeout, ContextTimeoutEnabled: true,
		MaxRetryBackoff: longestPause, DisableRoutingPolicies: true,
		Protocol: opts.Protocol, DisableIdentity: true, MaintNotificationsConfig: opts.MaintNotificationsConfig,
	})
	c.AddHook(repeating{cluster: c})
	c.AddHook(noRetries{})
	c.background.Go(func() {
		for pause.For(c.life, watchEvery) {
			c.look(c.life)
		}
	})
	return c
}

// node returns the node at an address. It makes a new one when go-redis has replaced its client, and for a master that go-redis does not know: an
// answer may name a master without slots.
func (c *cluster) node(address string, renew bool) *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[address]
	if n == nil || renew {
		n = newNode(c.options(address), c.shared, redis.NewClient)
		c.nodes[address] = n
	}
	return n
}

// masterOf returns the master of a key, within the caller's patience. When no master serves the slot, it returns any node; that node's answer
// says so.
func (c *cluster) masterOf(ctx context.Context, key string) (*node, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience(ctx))
	defer cancel()
	client, err := c.MasterForKey(ctx, key)
	if err != nil {
		return nil, err
	}
	return c.node(client.Options().Addr, false), nil
}

// eachMaster calls ask with every master at the same time. It fails when the masters are not known.
func (c *cluster) eachMaster(ctx context.Context, ask func(n *node) error) error {
	if _, err := c.masterOf(ctx, ""); err != nil { // loads the slots
		return err
	}
	patience := min(c.patience(ctx), slotsTime)
	looking, cancel := context.WithTimeout(pause.WithPatience(ctx, patience), patience)
	defer cancel()
	return c.ForEachMaster(looking, func(_ context.Context, client *redis.Client) error {
		c.heard(ctx, ask(c.node(client.Options().Addr, false)))
		return nil
	})
}

// heard reloads the slots after a node did not answer: another node may have taken them over.
func (c *cluster) heard(ctx context.Context, err error) {
	if !answered(err) && ctx.Err() == nil {
		c.ReloadState(ctx)
	}
}

// look asks each master for its identity. A master that became a replica, took over older data and was promoted again keeps its connections, so
// nothing else shows the change.
func (c *cluster) look(ctx context.Context) {
	for _, n := range c.all() {
		n.doubt()
	}
	_ = c.eachMaster(ctx, func(n *node) error {
		_, err := n.server(ctx, nil) // if it fails, the next call asks
		return err
	})
}

// all returns the nodes that were made, for masters and replicas.
func (c *cluster) all() []*node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.nodes))
}

func (c *cluster) patience(ctx context.Context) time.Duration {
	return cmp.Or(pause.Patience(ctx), c.shared.silence)
}

// Close closes all connections.
func (c *cluster) Close() error {
	c.end()
	c.background.Wait()
	err := c.ClusterClient.Close()
	for _, n := range c.all() {
		_ = n.Close() // most are closed by now
	}
	return err
}
