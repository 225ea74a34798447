// Package cached is a bounded read-through cache of the archive. The change log invalidates its values; they do not expire.
package cached

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"levelboard/internal/platform/pause"
)

const (
	// defaultLoadTime bounds one load, and with it how long a caller waits for a silent
	// store. A caller with more patience (pause.WithPatience) gets that time instead.
	defaultLoadTime = 2 * time.Second
	// defaultWaiting bounds the callers that wait for loads, so that a flood of unknown
	// keys does not fill the memory. A caller that gives up counts until the load ends.
	defaultWaiting = 1024
	// mostMissing bounds the cached Absent errors, since any caller may ask for keys that do not exist.
	mostMissing = 10_000
)

// errCrowded rejects a caller that would have to wait for a load while 1,024 callers already do.
var errCrowded = errors.New("too many requests wait for values to be loaded")

// Load reads the value of a key. Its context has the values of the first caller's context, but ends only after the load time.
type Load[K ~string, V any] func(ctx context.Context, k K) (V, error)

// Cache holds a bounded number of values and evicts the least recently used. It is safe for concurrent use. Callers share values and must
// not change them. Keys are copied.
type Cache[K ~string, V any] struct {
	load    Load[K, V]
	absent  func(error) bool
	waiting *semaphore.Weighted
	loads   singleflight.Group

	mu       sync.Mutex
	held     *simplelru.LRU[K, V]
	missing  *simplelru.LRU[K, error]
	underway map[K]int64 // the number of each load that callers can join and whose result will be kept; Forget removes it
	begun    int64       // how many loads have begun
}

// Options configure a Cache. Only Size is required; it must be more than 0.
type Options struct {
	Size int // the maximum number of values
	// Absent, when set, selects errors to cache: those that say that the key has
	// no value. They have 10,000 places of their own, and never evict a value.
	Absent func(error) bool
}

// New returns an empty Cache.
func New[K ~string, V any](load Load[K, V], o Options) *Cache[K, V] {
	c := &Cache[K, V]{load: load, absent: o.Absent, waiting: semaphore.NewWeighted(defaultWaiting), underway: map[K]int64{}}
	var err error
	if c.held, err = simplelru.NewLRU[K, V](o.Size, nil); err != nil {
		panic(fmt.Sprintf("cached: a size of %d: %v", o.Size, err))
	}
	c.missing, _ = simplelru.NewLRU[K, error](min(o.Size, mostMissing), nil)
	return c
}

// NewLRU returns a cache of up to size computed values, without loads.
func NewLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	kept, err := lru.New[K, V](size)
	if err != nil {
		panic(fmt.Sprintf("cached: a size of %d: %v", size, err))
	}
	return kept
}

// Get returns the value of k from memory, or loads it. Concurrent callers share one load, which continues when some of them
// give up. Get fails if the load fails, ctx ends, or too many callers wait. The only errors that it caches are Absent ones.
func (c *Cache[K, V]) Get(ctx context.Context, k K) (none V, err error) {
	c.mu.Lock()
	if v, ok := c.held.Get(k); ok {
		c.mu.Unlock()
		return v, nil
	}
	err, missing := c.missing.Get(k)
	if !missing && !c.waiting.TryAcquire(1) {
		err, missing = errCrowded, true
	}
	if missing {
		c.mu.Unlock()
		return none, err
	}
	loaded := c.begin(ctx, k)
	c.mu.Unlock()
	select {
	case got := <-loaded:
		c.waiting.Release(1)
		v, _ := got.Val.(V)
		return v, got.Err
	case <-ctx.Done():
		go c.leave(loaded)
		return none, ctx.Err()
	}
}

// leave releases the place of a waiting caller when the load has ended.
func (c *Cache[K, V]) leave(loaded <-chan singleflight.Result) {
	<-loaded
	c.waiting.Release(1)
}

// begin begins a load of k, or joins the one under way. mu is held.
func (c *Cache[K, V]) begin(ctx context.Context, k K) <-chan singleflight.Result {
	number, shared := c.underway[k]
	if !shared {
		k = K(strings.Clone(string(k))) // k may be part of a longer text, such as a request's first line; a clone lets that text be freed
		c.begun++
		number = c.begun
		c.underway[k] = number
	}
	return c.loads.DoChan(strconv.FormatInt(number, 10), func() (_ any, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(defaultLoadTime, pause.Patience(ctx)))
		defer cancel()
		var v V
		defer func() {
			// Recover here: a panic on this goroutine would end the whole service.
			if p := recover(); p != nil {
				err = fmt.Errorf("the load panicked: %v\n%s", p, debug.Stack())
			}
			c.finish(k, number, v, err)
		}()
		v, err = c.load(ctx, k)
		return v, err
	})
}

// finish keeps the result, unless k was forgotten after the load began.
func (c *Cache[K, V]) finish(k K, number int64, v V, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underway[k] != number {
		return
	}
	delete(c.underway, k)
	switch {
	case err == nil:
		c.held.Add(k, v)
	case c.absent != nil && c.absent(err):
		c.missing.Add(k, err)
	}
}

// Has reports whether Get would return without a load.
func (c *Cache[K, V]) Has(k K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held.Contains(k) || c.missing.Contains(k)
}

// Forget drops the value of k. The result of a running load reaches only the callers that already wait for it, and is not kept.
func (c *Cache[K, V]) Forget(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(k)
}

// forget reports whether k had a value or a running load. mu is held.
func (c *Cache[K, V]) forget(k K) bool {
	_, loading := c.underway[k]
	delete(c.underway, k)
	c.missing.Remove(k)
	return c.held.Remove(k) || loading
}

// Renew is Forget. If a value was cached or loading, it also starts to load it again, before a caller needs it.
func (c *Cache[K, V]) Renew(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forget(k) && c.waiting.TryAcquire(1) {
		go c.leave(c.begin(context.Background(), k))
	}
}

// ForgetAbsences drops all cached Absent errors.
func (c *Cache[K, V]) ForgetAbsences() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing.Purge()
	clear(c.underway) // some of these loads may return Absent errors
}

// ForgetAll is Forget for every key.
func (c *Cache[K, V]) ForgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held.Purge()
	c.missing.Purge()
	clear(c.underway)
}
