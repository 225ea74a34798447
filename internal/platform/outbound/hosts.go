package outbound

import (
	"context"
	"sync"
)

// hosts gives each host its slots while somebody needs them.
type hosts struct {
	mu    sync.Mutex
	slots map[string]*slots
}

type slots struct {
	taken chan struct{}
	users int // who have one or wait for one
}

// take waits for a slot of a host until ctx ends.
func (h *hosts) take(ctx context.Context, host string) (release func(), err error) {
	h.mu.Lock()
	s := h.slots[host]
	if s == nil {
		s = &slots{taken: make(chan struct{}, PerHost)}
		h.slots[host] = s
	}
	s.users++
	h.mu.Unlock()
	leave := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(h.slots, host)
		}
	}
	select {
	case s.taken <- struct{}{}:
		return func() { <-s.taken; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
