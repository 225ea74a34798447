// Package cached is a bounded read-through cache for what the archive holds and the change log invalidates. Values do not expire.
package cached

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"levelboard/internal/platform/pause"
)

const (
	// defaultLoadTime bounds one load, and with it how long a caller waits for a store that does not answer. A caller who is more patient
	// than that (pause.WithPatience) has its own time.
	defaultLoadTime = 2 * time.Second
	// defaultWaiting bounds the callers that wait for loads, and the loads under way, so that a flood of unknown keys does not fill the memory.
	defaultWaiting = 1024
	// mostMissing is how many absences are kept at most: they come from callers who ask for what does not exist.
	mostMissing = 10_000
)

// errCrowded rejects a caller who would have to wait for a load when 1,024 do.
var errCrowded = errors.New("too many requests wait for what is not in memory")

// errAborted stands for a load that ended its goroutine without returning.
var errAborted = errors.New("the load ended without a result")

// Load reads the value of a key. Its context carries the values of the first caller's and ends only after the load time.
type Load[K ~string, V any] func(ctx context.Context, k K) (V, error)

// Cache holds a bounded number of values and evicts the least recently used. It is safe for concurrent use. Callers share values and must
// not change them. Keys are copied.
type Cache[K ~string, V any] struct {
	load    Load[K, V]
	options Options[V]
	most    int // defaultWaiting, except for tests

	mu       sync.Mutex
	waiting  int
	held     *simplelru.LRU[K, V]
	missing  *simplelru.LRU[K, error]
	underway map[K]*fetch[V]
	weight   int // of what is held, when it is weighed
}

// fetch is one load under way; value and err may be read once done is closed.
type fetch[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// Options say how a Cache works. Only Size must be set, to more than 0.
type Options[V any] struct {
	Size int // how many values are held at most
	// Weigh, when set, bounds the weight of all values to Heaviest. A value must always weigh the same.
	Weigh    func(V) int
	Heaviest int
	// Absent, when set, also keeps the errors for which it returns true: there is no such value. They have room of their own, at most 10,000,
	// and never evict a value.
	Absent func(error) bool
}

// New returns an empty Cache.
func New[K ~string, V any](load Load[K, V], o Options[V]) *Cache[K, V] {
	c := &Cache[K, V]{load: load, options: o, most: defaultWaiting, underway: make(map[K]*fetch[V])}
	var dropped func(K, V)
	if o.Weigh != nil {
		dropped = func(_ K, v V) { c.weight -= o.Weigh(v) }
	}
	var err error
	if c.held, err = simplelru.NewLRU(o.Size, dropped); err != nil {
		panic(fmt.Sprintf("cached: a size of %d: %v", o.Size, err))
	}
	c.missing, _ = simplelru.NewLRU[K, error](min(o.Size, mostMissing), nil)
	return c
}

// hold keeps a value. mu is held.
func (c *Cache[K, V]) hold(k K, v V) {
	if c.options.Weigh == nil {
		c.held.Add(k, v)
		return
	}
	c.held.Remove(k) // another value of the key would be replaced without being told of
	c.weight += c.options.Weigh(v)
	c.held.Add(k, v)
	for c.weight > c.options.Heaviest {
		c.held.RemoveOldest()
	}
}

// Get returns the value of k from memory, or loads it. Concurrent callers share one load, which continues when some of them leave. The error
// is the load's, ctx's, or that too many wait; only Absent errors are kept.
func (c *Cache[K, V]) Get(ctx context.Context, k K) (none V, err error) {
	c.mu.Lock()
	if v, ok := c.held.Get(k); ok {
		c.mu.Unlock()
		return v, nil
	}
	if err, ok := c.missing.Get(k); ok {
		c.mu.Unlock()
		return none, err
	}
	f, shared := c.underway[k]
	if c.waiting >= c.most || !shared && len(c.underway) >= c.most {
		c.mu.Unlock()
		return none, errCrowded
	}
	c.waiting++
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waiting--
	}()
	if !shared {
		f = c.begin(context.WithoutCancel(ctx), k)
	}
	c.mu.Unlock()

	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// Has reports whether Get would load nothing.
func (c *Cache[K, V]) Has(k K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held.Contains(k) || c.missing.Contains(k)
}

// begin begins a load of k. mu is held.
func (c *Cache[K, V]) begin(ctx context.Context, k K) *fetch[V] {
	f := &fetch[V]{done: make(chan struct{}), err: errAborted}
	// It may be part of a longer text, such as a request's first line, which would be kept with it.
	k = K(strings.Clone(string(k)))
	c.underway[k] = f
	go c.fetch(ctx, k, f)
	return f
}

func (c *Cache[K, V]) fetch(ctx context.Context, k K, f *fetch[V]) {
	ctx, cancel := context.WithTimeout(ctx, max(defaultLoadTime, pause.Patience(ctx)))
	defer cancel()
	defer c.finish(k, f)
	// On this goroutine nobody else would recover, and one bad load would end the whole service.
	defer func() {
		if p := recover(); p != nil {
			f.err = fmt.Errorf("the load panicked: %v\n%s", p, debug.Stack())
		}
	}()
	f.value, f.err = c.load(ctx, k)
}

// finish keeps the result, unless k was forgotten since the load began.
func (c *Cache[K, V]) finish(k K, f *fetch[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(f.done)
	if c.underway[k] != f {
		return
	}
	delete(c.underway, k)
	switch {
	case f.err == nil:
		c.hold(k, f.value)
	case c.options.Absent != nil && c.options.Absent(f.err):
		c.missing.Add(k, f.err)
	}
}

// Forget drops what is known of k. A load under way reaches only the callers that wait for it already, and is not kept.
func (c *Cache[K, V]) Forget(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(k)
}

// forget reports whether there was a value, or a load of one. mu is held.
func (c *Cache[K, V]) forget(k K) bool {
	_, loading := c.underway[k]
	delete(c.underway, k)
	c.missing.Remove(k)
	return c.held.Remove(k) || loading
}

// Renew is Forget, but a value in use is loaded again at once, so that it is there before anybody asks for it.
func (c *Cache[K, V]) Renew(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forget(k) && len(c.underway) < c.most {
		c.begin(context.Background(), k)
	}
}

// ForgetAbsences forgets which keys have no value, as far as that is known.
func (c *Cache[K, V]) ForgetAbsences() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing.Purge()
	clear(c.underway) // some of these may find that there is none
}

// ForgetAll is Forget for every key.
func (c *Cache[K, V]) ForgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held.Purge()
	c.missing.Purge()
	clear(c.underway)
}
