// Package shares bounds what each of many callers holds at the same time, such as the open streams of an address, so that one caller
// cannot take what is there for all.
package shares

import (
	"context"
	"sync"
)

// PerCaller gives every caller the same number of shares. It remembers only callers that hold one or wait for one, so whatever bounds
// these together bounds its memory. It is safe for concurrent use.
type PerCaller struct {
	most int

	mu      sync.Mutex
	callers map[string]*caller // each with uses above 0
}

type caller struct {
	held chan struct{} // holds one for each share that is taken
	uses int           // how many hold a share or wait for one
}

// NewPerCaller returns one where each caller has at most that many shares, 1 or more.
func NewPerCaller(most int) *PerCaller { return &PerCaller{most: most, callers: map[string]*caller{}} }

// Take takes a share until release is called; calling it again does nothing. ok is false, and release nil, when the caller has as
// many as may be.
func (p *PerCaller) Take(name string) (release func(), ok bool) {
	c := p.join(name)
	select {
	case c.held <- struct{}{}:
		return p.releaseOnce(name, c), true
	default:
		p.leave(name, c)
		return nil, false
	}
}

// Wait is Take that waits until the caller may have one more. The error is the cause of ctx when it ends before.
func (p *PerCaller) Wait(ctx context.Context, name string) (release func(), err error) {
	c := p.join(name)
	select {
	case c.held <- struct{}{}:
		return p.releaseOnce(name, c), nil
	case <-ctx.Done():
		p.leave(name, c)
		return nil, context.Cause(ctx)
	}
}

// Callers is how many callers hold a share at this moment, or wait for one.
func (p *PerCaller) Callers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.callers)
}

func (p *PerCaller) join(name string) *caller {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.callers[name]
	if c == nil {
		c = &caller{held: make(chan struct{}, p.most)}
		p.callers[name] = c
	}
	c.uses++
	return c
}

func (p *PerCaller) leave(name string, c *caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.uses--; c.uses == 0 {
		delete(p.callers, name)
	}
}

func (p *PerCaller) releaseOnce(name string, c *caller) func() {
	return sync.OnceFunc(func() {
		<-c.held
		p.leave(name, c)
	})
}
