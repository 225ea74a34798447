// Package cached is a bounded read-through cache for what the archive holds and the change log invalidates. Nothing in it
// grows old by itself: a value stays until it is forgotten or pushed out by others.
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
)

const (
	// DefaultLoadTime bounds one load, and with it how long a caller waits for a store that does not answer.
	DefaultLoadTime = 2 * time.Second
	// DefaultWaiting is how many callers wait for loads at the same time, and how many loads are under way.
	DefaultWaiting = 512
	// mostMissing is how many absences are kept at most: they come from callers who ask for what does not exist.
	mostMissing = 10_000
)

// ErrCrowded is the answer to a caller who would have to wait for a load when too many do. Whoever asks for what is held
// is not affected.
var ErrCrowded = errors.New("too many requests wait for what is not in memory")

// errAborted stands for a load that ended its goroutine without returning.
var errAborted = errors.New("the load ended without a result")

// Load reads the value of a key. Its context is not that of any one caller: it carries the values of the first one's and
// ends after the load time only.
type Load[K ~string, V any] func(ctx context.Context, k K) (V, error)

// Cache holds at most so many values, and lets go of the ones unused for longest. It is safe for concurrent use. Values
// are shared by all callers: do not change what they point to. Keys are copied before they are kept.
type Cache[K ~string, V any] struct {
	load     Load[K, V]
	loadTime time.Duration
	absent   func(error) bool
	mayWait  int
	size     int

	mu       sync.Mutex
	waiting  int
	held     *simplelru.LRU[K, V]
	missing  *simplelru.LRU[K, error]
	underway map[K]*fetch[V]

	weigh        func(V) int // nil when only the number counts
	weight, most int         // of what is held
}

// fetch is one load under way; value and err may be read once done is closed.
type fetch[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// Option changes how a Cache works.
type Option func(*options)

type options struct {
	loadTime time.Duration
	absent   func(error) bool
	waiting  int
}

// WithLoadTime bounds one load by d in place of DefaultLoadTime.
func WithLoadTime(d time.Duration) Option {
	return func(o *options) { o.loadTime = d }
}

// WithWaiting is for n in place of DefaultWaiting: so many callers wait for loads, which is also how many loads are under
// way. One more gets ErrCrowded at once, so that a flood of keys that are not in memory, while the store is slow, holds up
// neither those that are nor the callers' memory.
func WithWaiting(n int) Option {
	return func(o *options) { o.waiting = n }
}

// WithAbsent also keeps the errors for which is returns true, which say for certain that there is no such value. They
// have room of their own, for as many as the values, 10,000 at most, and never push one out: asking for many keys that do not
// exist costs no hits.
func WithAbsent(is func(error) bool) Option {
	return func(o *options) { o.absent = is }
}

// New returns an empty Cache that holds at most size values; size must be positive.
func New[K ~string, V any](size int, load Load[K, V], opts ...Option) *Cache[K, V] {
	o := options{loadTime: DefaultLoadTime, waiting: DefaultWaiting, absent: func(error) bool { return false }}
	for _, opt := range opts {
		opt(&o)
	}
	held, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(fmt.Sprintf("cached: a size of %d: %v", size, err))
	}
	missing, _ := simplelru.NewLRU[K, error](min(size, mostMissing), nil)
	return &Cache[K, V]{
		load: load, loadTime: o.loadTime, absent: o.absent, mayWait: o.waiting, size: size,
		held: held, missing: missing, underway: make(map[K]*fetch[V]),
	}
}

// Weighed also bounds what all values weigh together, so that many small ones may be held, or a few large ones: the ones unused
// for longest go while they weigh more than most. It is for an empty Cache that nobody uses yet, and returns it. A value must
// always weigh the same.
func (c *Cache[K, V]) Weighed(most int, weigh func(V) int) *Cache[K, V] {
	c.most, c.weigh = most, weigh
	c.held, _ = simplelru.NewLRU(c.size, func(_ K, v V) { c.weight -= weigh(v) })
	return c
}

// hold keeps a value. mu is held.
func (c *Cache[K, V]) hold(k K, v V) {
	if c.weigh == nil {
		c.held.Add(k, v)
		return
	}
	c.held.Remove(k) // another value of the key would be replaced without being told of
	c.weight += c.weigh(v)
	c.held.Add(k, v)
	for c.weight > c.most {
		c.held.RemoveOldest()
	}
}

// Get returns the value of k from memory, or loads it. Concurrent callers share one load, which goes on when some of them
// leave. The error is the load's, or ctx's when that ended first; only errors that the option WithAbsent names are kept.
// It is ErrCrowded, without a load, when too many callers wait already.
func (c *Cache[K, V]) Get(ctx context.Context, k K) (V, error) {
	c.mu.Lock()
	if v, ok := c.held.Get(k); ok {
		c.mu.Unlock()
		return v, nil
	}
	if err, ok := c.missing.Get(k); ok {
		c.mu.Unlock()
		var none V
		return none, err
	}
	f, shared := c.underway[k]
	if c.waiting >= c.mayWait || !shared && len(c.underway) >= c.mayWait {
		c.mu.Unlock()
		var none V
		return none, ErrCrowded
	}
	c.waiting++
	defer c.left()
	if !shared {
		f = c.begin(context.WithoutCancel(ctx), k)
	}
	c.mu.Unlock()

	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
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

func (c *Cache[K, V]) left() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
}

func (c *Cache[K, V]) fetch(ctx context.Context, k K, f *fetch[V]) {
	ctx, cancel := context.WithTimeout(ctx, c.loadTime)
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
	case c.absent(f.err):
		c.missing.Add(k, f.err)
	}
}

// Forget drops what is known of k. A load of k that is under way reaches only the callers that wait for it already: it is
// not kept, and a Get that begins after Forget starts a new one.
func (c *Cache[K, V]) Forget(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held.Remove(k)
	c.missing.Remove(k)
	delete(c.underway, k)
}

// Renew is Forget, and when there was a value of k, or a load of one, it begins a load at once: what is in use is there again before
// anybody asks for it, also when the store is away by then.
func (c *Cache[K, V]) Renew(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, used := c.underway[k]
	used = c.held.Remove(k) || used
	c.missing.Remove(k)
	delete(c.underway, k)
	if used && len(c.underway) < c.mayWait {
		c.begin(context.Background(), k)
	}
}

// ForgetAbsences forgets which keys have no value, as far as that is known.
func (c *Cache[K, V]) ForgetAbsences() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing.Purge()
	clear(c.underway) // of which some may find that there is none
}

// ForgetAll is Forget for every key.
func (c *Cache[K, V]) ForgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held.Purge()
	c.missing.Purge()
	clear(c.underway)
}

// Len is how many values and absences are held.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held.Len() + c.missing.Len()
}
