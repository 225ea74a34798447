// Package slots counts what is held at the same time by each of many holders, such as the open streams of an address, so that one
// of them cannot take what is there for all.
package slots

import "sync"

// PerHolder lets every holder have the same number of slots at the same time. It remembers only those who hold one, so what it
// needs is bounded by whatever bounds all slots together; it does not bound them itself. It is safe for concurrent use.
type PerHolder struct {
	most int

	mu   sync.Mutex
	held map[string]int // never 0
}

// NewPerHolder returns one where each holder has at most that many slots, 1 or more.
func NewPerHolder(most int) *PerHolder { return &PerHolder{most: most, held: map[string]int{}} }

// Take takes a slot for the holder, until release is called; calling it again does nothing. ok is false, and release nil, when the
// holder has as many as may be.
func (p *PerHolder) Take(holder string) (release func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[holder] >= p.most {
		return nil, false
	}
	p.held[holder]++
	return sync.OnceFunc(func() { p.giveBack(holder) }), true
}

func (p *PerHolder) giveBack(holder string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[holder]--; p.held[holder] == 0 {
		delete(p.held, holder)
	}
}

// Holders is how many hold a slot at this moment.
func (p *PerHolder) Holders() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held)
}
