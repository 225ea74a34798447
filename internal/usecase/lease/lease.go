// Package lease elects one process among all replicas: a process takes the lease, renews it, notices its loss, and releases it. It does
// not know what the lease is for. Each write to the archive under the lease carries its fence, and the archive rejects an older one.
package lease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"levelboard/internal/platform/pause"
)

// lastLook is how often a process that is stopping checks a lease held by another one.
const lastLook = 50 * time.Millisecond

// Lease is the right to act as the only process. Fence rises with every new holder; the archive rejects writes with an older one.
type Lease struct {
	Holder string
	Fence  int64
}

// ErrLost says that another replica holds the lease.
var ErrLost = errors.New("the lease is held by another replica")

// ErrSilent says that the lease's holder neither renews nor releases it.
var ErrSilent = errors.New("the lease is held by a replica that no longer answers")

// Void returns how far ahead a lease may end. One that ends later was taken before the store's
// clock was set back. ttl is the caller's; replicas with another interval have another one.
func Void(ttl time.Duration) time.Duration { return max(2*ttl, 20*time.Second) }

// State is the lease in the store. A renewal changes Ends.
type State struct {
	Lease
	Ends int64 // milliseconds since 1970, by the store's clock
	Last bool  // the holder is stopping, and may have finished its last work
}

// Store holds the lease.
type Store interface {
	// AcquireLease takes or renews the lease for ttl, by the store's clock, and notes last. It may if the lease
	// is free, expired, void (Void), or already holder's, whose Fence then stays. Otherwise it returns ErrLost.
	AcquireLease(ctx context.Context, holder string, ttl time.Duration, last bool) (Lease, error)
	// LeaseState returns who holds the lease. If Holder is empty, it is free.
	LeaseState(ctx context.Context) (State, error)
	// ReleaseLease releases the lease, so that another replica need not wait for it to expire. It is no error if l is not held.
	ReleaseLease(ctx context.Context, l Lease) error
}

// Elector takes part in the election for this process. Take, TakeLast, Keep
// and Release are for one goroutine at a time; Held and Lease are for all.
type Elector struct {
	store  Store
	holder string
	ttl    time.Duration
	lease  atomic.Pointer[Lease]
	last   bool
	held   atomic.Bool
}

// New returns an Elector. holder names this process among the replicas. A lease expires after ttl unless it is renewed.
func New(store Store, holder string, ttl time.Duration) *Elector {
	e := &Elector{store: store, holder: holder, ttl: ttl}
	e.lease.Store(&Lease{})
	return e
}

// Change is what a Take changed.
type Change struct {
	Gained bool // this process was not the holder at the last Take, or another one was in between
	Lost   bool // this process was the holder at the last Take, and another one is now or was in between
}

// Take takes or renews the lease. It returns ErrLost if another replica holds it. After
// any other error the holder is unknown, and this process does nothing under the lease.
func (e *Elector) Take(ctx context.Context) (c Change, err error) {
	l, err := e.store.AcquireLease(ctx, e.holder, e.ttl, e.last)
	held := e.held.Load()
	c.Lost = held && (errors.Is(err, ErrLost) || err == nil && l.Fence != e.Lease().Fence)
	c.Gained = err == nil && (!held || c.Lost)
	if err == nil {
		e.lease.Store(&l)
	}
	e.held.Store(err == nil)
	return c, err
}

// TakeLast takes the lease before this process stops; other processes that are stopping then wait for Release. It returns false if a process that
// is not stopping has taken or renewed the lease since the call: that process sees all earlier changes. It returns ErrSilent if ctx ends first.
func (e *Elector) TakeLast(ctx context.Context) (held bool, err error) {
	e.last = true
	for first := (State{}); ; {
		_, err := e.Take(ctx)
		if err == nil {
			return true, nil
		}
		now := State{}
		if errors.Is(err, ErrLost) {
			now, err = e.store.LeaseState(ctx)
		}
		switch {
		case first.Holder != "" && ctx.Err() != nil:
			return false, ErrSilent
		case err != nil:
			return false, err
		case first.Holder == "":
			first = now
		case now.Holder != "" && now != first && !now.Last:
			return false, nil
		}
		pause.For(ctx, lastLook)
	}
}

// Lease returns the lease that Take took last.
func (e *Elector) Lease() Lease { return *e.lease.Load() }

// Held reports whether this process holds the lease, as far as it knows.
func (e *Elector) Held() bool { return e.held.Load() }

// Keep renews the lease five times in each ttl, until stop is called. The returned context ends when the lease is lost, with
// ErrLost as its cause. If the store does not respond, the context continues: a write under a lost lease is rejected by its fence.
func (e *Elector) Keep(ctx context.Context) (leased context.Context, stop func()) {
	leased, cancel := context.WithCancelCause(ctx)
	held := e.Lease()
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
			l, err := e.store.AcquireLease(leased, e.holder, e.ttl, e.last)
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

// Release releases the lease if this process holds it, so that another replica can take it at once.
func (e *Elector) Release(ctx context.Context) error {
	if !e.held.Swap(false) {
		return nil
	}
	return e.store.ReleaseLease(ctx, e.Lease())
}
