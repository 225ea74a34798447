// Package slots counts what is held at the same time by each of many holders, such as the open streams of an address, so that one
// of them cannot take what is there for all.
package slots

import (
	"context"
	"sync"
)

// PerHolder lets every holder have the same number of slots at the same time. It remembers only those who hold one or wait for one,
// so what it needs is bounded by whatever bounds these together; it does not bound them itself. It is safe for concurrent use.
type PerHolder struct {
	most int

	mu      sync.Mutex
	holders map[string]*holder // each with uses above 0
}

type holder struct {
	slots chan struct{} // holds one for each that is taken
	uses  int           // how many hold a slot or wait for one
}

// NewPerHolder returns one where each holder has at most that many slots, 1 or more.
func NewPerHolder(most int) *PerHolder { return &PerHolder{most: most, holders: map[string]*holder{}} }

// Take takes a slot for the holder, until release is called; calling it again does nothing. ok is false, and release nil, when the
// holder has as many as may be.
func (p *PerHolder) Take(name string) (release func(), ok bool) {
	h := p.join(name)
	select {
	case h.slots <- struct{}{}:
		return p.releaseOnce(name, h), true
	default:
		p.leave(name, h)
		return nil, false
	}
}

// Wait is Take that waits until the holder may have one more. The error is that of ctx when it ends before.
func (p *PerHolder) Wait(ctx context.Context, name string) (release func(), err error) {
	h := p.join(name)
	select {
	case h.slots <- struct{}{}:
		return p.releaseOnce(name, h), nil
	case <-ctx.Done():
		p.leave(name, h)
		return nil, context.Cause(ctx)
	}
}

// Holders is how many hold a slot at this moment, or wait for one.
func (p *PerHolder) Holders() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.holders)
}

func (p *PerHolder) join(name string) *holder {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holders[name]
	if h == nil {
		h = &holder{slots: make(chan struct{}, p.most)}
		p.holders[name] = h
	}
	h.uses++
	return h
}

func (p *PerHolder) leave(name string, h *holder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.uses--; h.uses == 0 {
		delete(p.holders, name)
	}
}

func (p *PerHolder) releaseOnce(name string, h *holder) func() {
	return sync.OnceFunc(func() {
		<-h.slots
		p.leave(name, h)
	})
}
