// Package lease lets one process among all replicas do what only one may do: it takes the lease, keeps it, notices that it has lost it, and gives
// it up. It does not know what is done under it. Whatever that writes to the archive carries the Lease, so that the archive
// refuses who was taken over from, however late.
package lease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Lease is the right to do it. Fence rises with every new holder; the archive refuses what carries an older one.
type Lease struct {
	Holder string
	Fence  int64
}

// ErrLost says that another replica holds the lease.
var ErrLost = errors.New("the lease is held by another replica")

// Store is where the lease is.
type Store interface {
	// AcquireLease takes the lease when it is free, expired, or held by holder already (then Fence stays), for ttl from
	// now by the store's clock. ErrLost when somebody else holds it.
	AcquireLease(ctx context.Context, holder string, ttl time.Duration) (Lease, error)
	// ReleaseLease gives the lease up, so that another replica need not wait for it to expire. No error when it is not held.
	ReleaseLease(ctx context.Context, l Lease) error
}

// Elector is this process's part in the election. Take, Keep and Release are for one goroutine at a time; Held is for all.
type Elector struct {
	store  Store
	holder string
	ttl    time.Duration
	lease  Lease
	held   atomic.Bool
}

// New returns an Elector. holder names this process among the replicas; a lease that is not taken again ends after ttl.
func New(store Store, holder string, ttl time.Duration) *Elector {
	return &Elector{store: store, holder: holder, ttl: ttl}
}

// Change is what Take found out.
type Change struct {
	Gained bool // this process was not the holder the last time, or somebody else was meanwhile
	Lost   bool // this process was the holder, and somebody else is, or was meanwhile
}

// Take takes the lease or makes it last longer. ErrLost when another replica holds it. After any other error nobody knows who holds it, and
// this process does nothing under it.
func (e *Elector) Take(ctx context.Context) (c Change, err error) {
	l, err := e.store.AcquireLease(ctx, e.holder, e.ttl)
	held := e.held.Load()
	c.Lost = held && (errors.Is(err, ErrLost) || err == nil && l.Fence != e.lease.Fence)
	c.Gained = err == nil && (!held || c.Lost)
	if err == nil {
		e.lease = l
	}
	e.held.Store(err == nil)
	return c, err
}

// Lease is what Take has taken last.
func (e *Elector) Lease() Lease { return e.lease }

// Held reports whether this process holds the lease, as far as it knows.
func (e *Elector) Held() bool { return e.held.Load() }

// Keep renews the lease five times in the time that it lasts, until stop is called. The context that it returns ends when the lease is
// lost, with ErrLost as its cause. A store that does not answer ends nothing: whatever is written meanwhile finds out.
func (e *Elector) Keep(ctx context.Context) (leased context.Context, stop func()) {
	leased, cancel := context.WithCancelCause(ctx)
	held := e.lease
	var renewal sync.WaitGroup
	renewal.Go(func() {
		ticker := time.NewTicker(max(e.ttl/5, time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-leased.Done():
				return
			case <-ticker.C:
			}
			l, err := e.store.AcquireLease(leased, e.holder, e.ttl)
			if errors.Is(err, ErrLost) || err == nil && l.Fence != held.Fence {
				cancel(ErrLost)
				return
			}
		}
	})
	return leased, func() {
		cancel(nil)
		renewal.Wait()
	}
}

// Release gives the lease up if it is held, so that another replica can go on at once.
func (e *Elector) Release(ctx context.Context) error {
	if !e.held.Swap(false) {
		return nil
	}
	return e.store.ReleaseLease(ctx, e.lease)
}
