// Package shares bounds what many hold together, such as requests in progress or open streams, and lets each holder have no more than a
// share of it, so that one of them cannot take what is there for all. It limits no rates (package ratelimit).
package shares

import (
	"context"
	"errors"
	"sync"
)

// Why a place is not given.
var (
	ErrFull  = errors.New("all places are taken")
	ErrShare = errors.New("the holder has all places of its share")
)

// Pool has places. A holder alone may have as many as its share; the fewer are free, the fewer may each have, so that several together
// leave some, too. It remembers only the holders that have a place. It is safe for concurrent use.
type Pool struct {
	places, share int

	mu      sync.Mutex
	free    int
	holders map[string]*holder
	changed chan struct{} // closed when a place is given back; nil while nobody waits
}

type holder struct {
	places int // that are its own, lent ones too
	taken  int // of those that are not lent
}

// New returns a Pool of places, of them at most share, 1 or more, for one holder.
func New(places, share int) *Pool {
	return &Pool{places: places, share: min(share, places), free: places, holders: map[string]*holder{}}
}

// Take takes a place for the holder. The error is ErrShare or ErrFull.
func (p *Pool) Take(name string) (*Place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take(name)
}

func (p *Pool) take(name string) (*Place, error) {
	switch h := p.holder(name); {
	case p.free == 0:
		return nil, ErrFull
	case h.places >= p.share || !p.leavesSome(h, p.free):
		return nil, ErrShare
	}
	p.change(name, 1, 1)
	p.free--
	return &Place{pool: p, name: name, taken: true}, nil
}

// leavesSome reports whether the holder may have one more of those that are free: of all places when it is the only holder its share, and
// else the same part of what the others leave.
func (p *Pool) leavesSome(h holder, free int) bool {
	return float64(h.taken)*float64(p.places-p.share) < float64(free)*float64(p.share)
}

// Wait is Take that waits for its turn until ctx ends.
func (p *Pool) Wait(ctx context.Context, name string) (*Place, error) {
	for {
		p.mu.Lock()
		place, err := p.take(name)
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

// Holders is how many have a place at this moment.
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

// Place is one place of a Pool, in the share of a holder. Its methods are for one goroutine, and do nothing for nil.
type Place struct {
	pool     *Pool
	name     string
	taken    bool // not lent
	released bool
}

// Lend lets others have the place until Resume. It stays in the holder's share.
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
	p.pool.change(p.name, 0, -1)
	p.pool.free++
	p.pool.wake()
}

// Resume takes the place that was lent again. It is false when too few are left.
func (p *Place) Resume() bool {
	if p == nil || p.taken {
		return true
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.taken = p.pool.leavesSome(p.pool.holder(p.name), p.pool.free); p.taken {
		p.pool.change(p.name, 0, 1)
		p.pool.free--
	}
	return p.taken
}

// Release gives the place back. Calling it again does nothing.
func (p *Place) Release() {
	if p == nil || p.released {
		return
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.taken {
		p.lend()
	}
	p.pool.change(p.name, -1, 0)
	p.pool.wake()
	p.released = true
}
