// Package cached is a bounded read-through cache that never keeps, or hands to a later caller, what was loaded before its
// key was forgotten.
package cached

import (
	"context"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// loadTime bounds one load, however many callers wait for it; each of them waits no longer than its own deadline.
const loadTime = 5 * time.Second

// Cache holds the most recently used values of a source. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	load func(ctx context.Context, k K) (V, error)

	mu      sync.Mutex
	values  *lru.Cache[K, V]
	flights map[K]*flight[V]
}

// flight is one load that is under way. It is in the map exactly as long as its result may be kept.
type flight[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// New returns a cache of at most size values (at least 1). load's errors are not kept, so "there is none" should be a value.
func New[K comparable, V any](size int, load func(ctx context.Context, k K) (V, error)) *Cache[K, V] {
	values, err := lru.New[K, V](max(size, 1))
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Cache[K, V]{load: load, values: values, flights: map[K]*flight[V]{}}
}

// Get returns the value from memory, or loads it, once for all who ask at the same time. A caller whose context ends gets
// the context's error, and the load goes on for the others.
func (c *Cache[K, V]) Get(ctx context.Context, k K) (V, error) {
	c.mu.Lock()
	if v, ok := c.values.Get(k); ok {
		c.mu.Unlock()
		return v, nil
	}
	f, ok := c.flights[k]
	if !ok {
		f = &flight[V]{done: make(chan struct{})}
		c.flights[k] = f
		go c.fly(context.WithoutCancel(ctx), k, f)
	}
	c.mu.Unlock()

	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		var none V
		return none, fmt.Errorf("wait for a read of the archive: %w", ctx.Err())
	}
}

func (c *Cache[K, V]) fly(ctx context.Context, k K, f *flight[V]) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	f.value, f.err = c.load(ctx, k)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[k] == f {
		delete(c.flights, k)
		if f.err == nil {
			c.values.Add(k, f.value)
		}
	}
	close(f.done)
}

// Forget drops the value. A load of it that is under way still answers those who wait for it already, but is not kept, and
// a Get that begins after Forget starts a load of its own.
func (c *Cache[K, V]) Forget(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(k)
	delete(c.flights, k)
}

// ForgetAll is Forget for every key.
func (c *Cache[K, V]) ForgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Purge()
	clear(c.flights)
}
