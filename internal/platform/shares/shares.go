// Package shares bounds a resource that many holders share, such as running requests, open streams or bytes of
// answers. Each holder gets at most a share of it, so that none can take it all. Package ratelimit limits rates.
package shares

import (
	"context"
	"errors"
	"sync"
)

// Reasons to refuse a place.
var (
	ErrFull  = errors.New("all places are taken")
	ErrShare = errors.New("the holder has all places of its share")
)

// Pool has places. A single holder may have as many as its share. The fewer places are free, the fewer each holder may have,
// so that several holders together also leave some. A Pool forgets a holder that has no place. It is safe for concurrent use.
type Pool struct {
	places, share int

	mu      sync.Mutex
	free    int
	holders map[string]*holder
	changed chan struct{} // closed when a place is released; nil while no caller waits
}

type holder struct {
	places int // of this holder, lent ones included
	taken  int // the places that are not lent
}

// New returns a Pool of places. One holder gets at most share of them, which must be 1 or more.
func New(places, share int) *Pool {
	return &Pool{places: places, share: min(share, places), free: places, holders: map[string]*holder{}}
}

// Take takes a place for the holder called name. The error is ErrShare or ErrFull.
func (p *Pool) Take(name string) (*Place, error) { return p.TakeN(name, 1) }

// TakeN takes n places as one Place. If n is larger than a share, it takes a share.
func (p *Pool) TakeN(name string, n int) (*Place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take(name, n)
}

func (p *Pool) take(name string, n int) (*Place, error) {
	n = min(n, p.share)
	switch h := p.holder(name); {
	case p.free < n:
		return nil, ErrFull
	case h.places+n > p.share || !p.leavesSome(h, n):
		return nil, ErrShare
	}
	p.change(name, n, n)
	p.free -= n
	return &Place{pool: p, name: name, size: n, taken: true}, nil
}

// leavesSome reports whether the holder may have n more places. It may have share/places
// of the places that other holders leave. Without others, that is its share.
func (p *Pool) leavesSome(h holder, n int) bool {
	return float64(h.taken+n-1)*float64(p.places-p.share) < float64(p.free-n+1)*float64(p.share)
}

// Wait is Take, but waits for a place until ctx ends.
func (p *Pool) Wait(ctx context.Context, name string) (*Place, error) { return p.WaitN(ctx, name, 1) }

// WaitN is TakeN, but waits for the places until ctx ends.
func (p *Pool) WaitN(ctx context.Context, name string, n int) (*Place, error) {
	for {
		p.mu.Lock()
		place, err := p.take(name, n)
		if err != nil && p.changed == nil {
			p.changed = make(chan struct{})
		}
		changed := p.changed
		p.mu.Unlock()
		if err == nil {
			return place, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// Holders returns how many holders have a place now.
func (p *Pool) Holders() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.holders)
}

func (p *Pool) holder(name string) holder {
	if h := p.holders[name]; h != nil {
		return *h
	}
	return holder{}
}

func (p *Pool) change(name string, places, taken int) {
	h := p.holders[name]
	if h == nil {
		h = &holder{}
		p.holders[name] = h
	}
	h.places += places
	h.taken += taken
	if h.places == 0 {
		delete(p.holders, name)
	}
}

func (p *Pool) wake() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// Place is one or several places of a Pool that a holder has. A single goroutine may use it. Its methods do nothing for nil.
type Place struct {
	pool     *Pool
	name     string
	size     int
	taken    bool // not lent
	released bool
}

// Lend lets other holders take the place until Resume. The place still counts in its holder's share.
func (p *Place) Lend() {
	if p == nil || !p.taken {
		return
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	p.lend()
}

func (p *Place) lend() {
	p.taken = false
	p.pool.change(p.name, 0, -p.size)
	p.pool.free += p.size
	p.pool.wake()
}

// Resume takes a lent place back. It returns false when too few places are free.
func (p *Place) Resume() bool {
	if p == nil || p.taken {
		return true
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.taken = p.size <= p.pool.free && p.pool.leavesSome(p.pool.holder(p.name), p.size); p.taken {
		p.pool.change(p.name, 0, p.size)
		p.pool.free -= p.size
	}
	return p.taken
}

// Release returns the place to the Pool. A second call does nothing.
func (p *Place) Release() {
	if p == nil || p.released {
		return
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.taken {
		p.lend()
	}
	p.pool.change(p.name, -p.size, 0)
	p.pool.wake()
	p.released = true
}
