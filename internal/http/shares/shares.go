// Package shares bounds what many hold together, such as requests in progress or open streams, and lets each holder have no more than a
// share of it, so that one of them cannot take what is there for all.
package shares

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Why a place is not given.
var (
	ErrFull  = errors.New("all places are taken")
	ErrShare = errors.New("the holder has all places of its share")
)

// Pool has places. It remembers only the holders that have one or wait for one. It is safe for concurrent use.
type Pool struct {
	places *semaphore.Weighted
	share  int64

	mu      sync.Mutex
	holders map[string]*holder // each with uses above 0
}

type holder struct {
	share *semaphore.Weighted
	uses  int // how many have a place or wait for one
}

// New returns a Pool of so many places, of which each holder may have share, 1 or more.
func New(places, share int) *Pool {
	return &Pool{places: semaphore.NewWeighted(int64(places)), share: int64(share), holders: map[string]*holder{}}
}

// Take takes a place for the holder. The error is ErrShare or ErrFull.
func (p *Pool) Take(name string) (*Place, error) {
	h := p.join(name)
	if !h.share.TryAcquire(1) {
		p.leave(name, h)
		return nil, ErrShare
	}
	place := &Place{pool: p, name: name, holder: h}
	if !place.Resume() {
		place.Release()
		return nil, ErrFull
	}
	return place, nil
}

// Wait is Take that waits for its turn until ctx ends.
func (p *Pool) Wait(ctx context.Context, name string) (*Place, error) {
	h := p.join(name)
	if h.share.Acquire(ctx, 1) != nil {
		p.leave(name, h)
		return nil, ErrShare
	}
	place := &Place{pool: p, name: name, holder: h}
	if p.places.Acquire(ctx, 1) != nil {
		place.Release()
		return nil, ErrFull
	}
	place.taken = true
	return place, nil
}

// Holders is how many have a place at this moment, or wait for one.
func (p *Pool) Holders() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.holders)
}

func (p *Pool) join(name string) *holder {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holders[name]
	if h == nil {
		h = &holder{share: semaphore.NewWeighted(p.share)}
		p.holders[name] = h
	}
	h.uses++
	return h
}

func (p *Pool) leave(name string, h *holder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.uses--; h.uses == 0 {
		delete(p.holders, name)
	}
}

// Place is one place of a Pool, in the share of a holder. Its methods are for one goroutine, and do nothing for nil.
type Place struct {
	pool   *Pool
	name   string
	holder *holder // nil once released
	taken  bool    // of the pool's places
}

// Move takes the place out of its holder's share and into another one's. It is false, and nothing has changed, when that is full.
func (p *Place) Move(name string) bool {
	if p == nil || p.name == name {
		return true
	}
	h := p.pool.join(name)
	if !h.share.TryAcquire(1) {
		p.pool.leave(name, h)
		return false
	}
	p.leaveShare()
	p.name, p.holder = name, h
	return true
}

// Lend lets others have the place until Resume. It stays in the holder's share.
func (p *Place) Lend() {
	if p != nil && p.taken {
		p.taken = false
		p.pool.places.Release(1)
	}
}

// Resume takes the place that was lent again. It is false when all are taken.
func (p *Place) Resume() bool {
	if p == nil || p.taken {
		return true
	}
	p.taken = p.pool.places.TryAcquire(1)
	return p.taken
}

// Release gives the place back. Calling it again does nothing.
func (p *Place) Release() {
	p.Lend()
	if p != nil && p.holder != nil {
		p.leaveShare()
		p.holder = nil
	}
}

func (p *Place) leaveShare() {
	p.holder.share.Release(1)
	p.pool.leave(p.name, p.holder)
}
