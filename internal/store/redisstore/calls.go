package redisstore

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// coalescers are those of a Store, one for each node, and the metrics of them together.
type coalescers struct {
	store *Store
	only  *coalescer // with one server
	slow  *coalescer // with one server, for changes that wait for replicas
	sent  prometheus.Histogram
}

func newCoalescers(s *Store) *coalescers {
	c := &coalescers{store: s, sent: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "levelboard_redis_pipeline_commands",
		Help:    "Small calls of concurrent requests that were sent to Redis together.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 7), // to batchCalls
	})}
	if s.client.only != nil {
		c.only = c.newFor(s.client.only, nil)
		if s.wait != nil {
			c.slow = c.newFor(s.client.only, s.wait)
		}
	}
	return c
}

func (c *coalescers) newFor(n *node, wait *waiter) *coalescer {
	atOnce, beside := batchesAtOnce, callsBeside
	if wait != nil {
		atOnce, beside = waitingBatches, 1
	}
	return &coalescer{node: n, wait: wait, atOnce: atOnce, beside: beside, clustered: c.store.client.cluster != nil, index: c.store.index, observe: c.store.observe, sent: c.sent}
}

// lane tells the coalescers of a node apart: changes that wait for replicas must not hold up reads.
type lane struct {
	store *Store
	waits bool
}

// on is the one for a call on a node; it goes with the node.
func (c *coalescers) on(n *node, waits bool) *coalescer {
	to := lane{c.store, waits}
	if known, ok := n.calls.Load(to); ok {
		return known.(*coalescer)
	}
	var wait *waiter
	if waits {
		wait = c.store.wait
	}
	known, _ := n.calls.LoadOrStore(to, c.newFor(n, wait))
	return known.(*coalescer)
}

// do makes the call on the node of its guild; see coalescer.do.
func (c *coalescers) do(ctx context.Context, l *call) error {
	waits := c.store.wait.of(l.kind.script) != nil
	if c.only != nil {
		if waits {
			return c.slow.do(ctx, l)
		}
		return c.only.do(ctx, l)
	}
	began := time.Now()
	err := c.store.client.cluster.follow(ctx, slotOfGuild(l.g.ID), func(ctx context.Context, n *node, asking bool) error {
		l.asking = asking
		return c.on(n, waits).do(ctx, l)
	})
	if c.store.observe != nil && nothingRan(err) {
		c.store.observe(l.kind.script.name, time.Since(began), err)
	}
	return err
}

var waitingCalls = prometheus.NewDesc("levelboard_redis_pipeline_waiting", "Small calls that wait to be sent to Redis with the next ones.", nil, nil)

// Describe implements prometheus.Collector.
func (c *coalescers) Describe(descs chan<- *prometheus.Desc) {
	c.sent.Describe(descs)
	descs <- waitingCalls
}

// Collect implements prometheus.Collector.
func (c *coalescers) Collect(metrics chan<- prometheus.Metric) {
	c.sent.Collect(metrics)
	waiting := 0
	for _, each := range c.all() {
		each.mu.Lock()
		waiting += len(each.waiting)
		each.mu.Unlock()
	}
	metrics <- prometheus.MustNewConstMetric(waitingCalls, prometheus.GaugeValue, float64(waiting))
}

func (c *coalescers) all() (all []*coalescer) {
	if c.only != nil {
		all = append(all, c.only)
		if c.slow != nil {
			all = append(all, c.slow)
		}
		return all
	}
	for _, n := range c.store.client.cluster.all() {
		for _, waits := range []bool{false, true} {
			if known, ok := n.calls.Load(lane{c.store, waits}); ok {
				all = append(all, known.(*coalescer))
			}
		}
	}
	return all
}
