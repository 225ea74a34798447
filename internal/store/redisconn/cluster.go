package redisconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/pause"
)

const (
	// loadEvery is the least time between two looks at who serves which slot.
	loadEvery = 100 * time.Millisecond
	// watchEvery is how often the table is looked at, and each master asked who it is, though nothing called for it.
	watchEvery = 5 * time.Second
	// leftFor is how long a node is kept that serves no slot any more: calls to it may still be under way.
	leftFor = time.Minute
)

// cluster knows the masters of a Redis Cluster and which slots each serves. go-redis's own cluster client knows that too, but
// looks again in the background only, at most five times a second, and closes nodes under the calls that use them.
type cluster struct {
	options func(address string) *redis.Options // of one node
	shared  *shared
	seeds   []string
	table   atomic.Pointer[slotTable]
	changed func() // is called after each new table

	mu     sync.Mutex
	nodes  map[string]*node     // by address
	left   map[string]time.Time // since when a node serves nothing
	load   *load                // the one under way
	loaded time.Time            // when the last one began
	watch  bool
	leaves time.Duration // leftFor
	closed bool

	life       context.Context // ends with the client
	end        context.CancelFunc
	background sync.WaitGroup
}

// slotTable says who served what at one moment. It does not change.
type slotTable struct {
	at      time.Time
	nodes   [slots]*node // nil where nobody does
	masters []*node
	ranges  []redis.ClusterSlot
}

// load is one look at who serves which slot.
type load struct {
	done chan struct{}
	err  error
}

func newCluster(seeds []string, s *shared, options func(address string) *redis.Options) *cluster {
	c := &cluster{
		options: options, shared: s, seeds: seeds, changed: func() {},
		nodes: map[string]*node{}, left: map[string]time.Time{}, leaves: leftFor,
	}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// slotTable returns the last table, or the first one, for which it waits no longer than the caller is patient.
func (c *cluster) slotTable(ctx context.Context) (*slotTable, error) {
	t := c.table.Load()
	if t == nil {
		ctx, cancel := context.WithTimeout(ctx, c.patience(ctx))
		defer cancel()
		if err := c.reload(ctx, nil, ""); err != nil {
			return nil, fmt.Errorf("redis: look at the cluster's slots: %w", err)
		}
		t = c.table.Load()
	}
	return t, nil
}

// reload returns once there is another table than the one seen, or one could not be had. The node at address, if any, is
// asked first.
func (c *cluster) reload(ctx context.Context, seen *slotTable, address string) error {
	l := c.startLoad(seen, address)
	if l == nil {
		return nil
	}
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reloadSoon does not wait for it.
func (c *cluster) reloadSoon(seen *slotTable) { c.startLoad(seen, "") }

// heard takes what a node answered, or did not: of one that is silent the slots may be another's by now.
func (c *cluster) heard(ctx context.Context, err error) {
	if !answered(err) && ctx.Err() == nil {
		c.reloadSoon(c.table.Load())
	}
}

// startLoad returns the load under way, or starts one; nil when the table is another one than was seen, or just loaded.
func (c *cluster) startLoad(seen *slotTable, address string) *load {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.load != nil {
		return c.load
	}
	if c.table.Load() != seen || seen != nil && time.Since(c.loaded) < loadEvery {
		return nil
	}
	l := &load{done: make(chan struct{})}
	if c.closed {
		l.err = redis.ErrClosed
		close(l.done)
		return l
	}
	c.load, c.loaded = l, time.Now()
	c.background.Go(func() {
		l.err = c.loadTable(address)
		c.mu.Lock()
		c.load = nil
		c.mu.Unlock()
		close(l.done)
	})
	return l
}

func (c *cluster) loadTable(address string) error {
	ranges, err := c.ask(address)
	if err != nil {
		return err
	}
	t := &slotTable{at: time.Now(), ranges: ranges}
	for _, r := range ranges {
		n, err := c.nodeAt(r.Nodes[0].Addr)
		if err != nil {
			return err
		}
		if !slices.Contains(t.masters, n) {
			t.masters = append(t.masters, n)
		}
		for slot := max(r.Start, 0); slot <= min(r.End, slots-1); slot++ {
			t.nodes[slot] = n
		}
	}
	c.table.Store(t)
	c.dropLeft(t)
	c.startWatch()
	c.changed()
	return nil
}

// nodeAt returns the node at an address.
func (c *cluster) nodeAt(address string) (*node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, redis.ErrClosed
	}
	n := c.nodes[address]
	if n == nil {
		n = newNode(c.options(address), c.shared)
		n.clustered = true
		c.nodes[address] = n
	}
	return n, nil
}

// dropLeft closes the nodes that have served nothing for a while.
func (c *cluster) dropLeft(t *slotTable) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for address, n := range c.nodes {
		since, noted := c.left[address]
		switch {
		case slices.Contains(t.masters, n):
			delete(c.left, address)
		case !noted:
			c.left[address] = t.at
			n.doubt()
		case t.at.Sub(since) > c.leaves:
			delete(c.nodes, address)
			delete(c.left, address)
			_ = n.Close()
		}
	}
}

// startWatch looks at the cluster from time to time. A master that was made a replica, took over another's older data and was
// promoted again keeps its connections, so nothing but to ask it tells that it is not the one that it was.
func (c *cluster) startWatch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch || c.closed {
		return
	}
	c.watch = true
	c.background.Go(func() {
		for pause.For(c.life, watchEvery) {
			c.look(c.life)
		}
	})
}

func (c *cluster) look(ctx context.Context) {
	_ = c.reload(ctx, c.table.Load(), "")
	var asked sync.WaitGroup
	for _, n := range c.table.Load().masters {
		asked.Go(func() {
			n.doubt()
			_, _ = n.server(ctx, nil) // if it fails, the next call asks
		})
	}
	asked.Wait()
}

// all are the nodes that are open.
func (c *cluster) all() []*node {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*node, 0, len(c.nodes))
	for _, n := range c.nodes {
		all = append(all, n)
	}
	return all
}

func (c *cluster) close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.background.Wait()
	var errs []error
	for _, n := range c.all() {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}
