// Package lease lets one process among all replicas do what only one may do: take the lease, keep it, notice its loss, and give it up. It
// does not know what is done under it. Whatever that writes to the archive carries the Lease, and the archive rejects an older fence.
package lease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"levelboard/internal/platform/pause"
)

// lastLook is how often a process that ends looks at a lease that another one holds.
const lastLook = 50 * time.Millisecond

// Lease is the right to do it. Fence rises with every new holder; the archive refuses what carries an older one.
type Lease struct {
	Holder string
	Fence  int64
}

// ErrLost says that another replica holds the lease.
var ErrLost = errors.New("the lease is held by another replica")

// ErrSilent says that the lease is held by a process that neither renews it nor gives it up.
var ErrSilent = errors.New("the lease is held by a replica that no longer answers")

// Void is how far ahead a lease ends that can only have been taken before the store's clock was set back. ttl is what the asker would
// take; replicas with other intervals have other ones.
func Void(ttl time.Duration) time.Duration { return max(2*ttl, 20*time.Second) }

// State is the lease as the store has it. A renewal changes Ends.
type State struct {
	Lease
	Ends int64 // milliseconds since 1970, by the store's clock
	Last bool  // the holder ends, and may have looked already at what there is to do
}

// Store is where the lease is.
type Store interface {
	// AcquireLease takes the lease when it is free, expired, void, or held by holder already (then Fence stays), for ttl from
	// now by the store's clock, and notes last. ErrLost when somebody else holds it. One that ends in more than Void(ttl) is void.
	AcquireLease(ctx context.Context, holder string, ttl time.Duration, last bool) (Lease, error)
	// LeaseState returns who holds the lease. Without a Holder it is free.
	LeaseState(ctx context.Context) (State, error)
	// ReleaseLease gives the lease up, so that another replica need not wait for it to expire. No error when it is not held.
	ReleaseLease(ctx context.Context, l Lease) error
}

// Elector is this process's part in the election. Take, TakeLast, Keep and Release are for one goroutine at a time; Held and Lease are for all.
type Elector struct {
	store  Store
	holder string
	ttl    time.Duration
	lease  atomic.Pointer[Lease]
	last   bool
	held   atomic.Bool
}

// New returns an Elector. holder names this process among the replicas; a lease that is not taken again ends after ttl.
func New(store Store, holder string, ttl time.Duration) *Elector {
	e := &Elector{store: store, holder: holder, ttl: ttl}
	e.lease.Store(&Lease{})
	return e
}

// Change is what Take found out.
type Change struct {
	Gained bool // this process was not the holder the last time, or somebody else was meanwhile
	Lost   bool // this process was the holder, and somebody else is, or was meanwhile
}

// Take takes the lease or makes it last longer. ErrLost when another replica holds it. After any other error nobody knows who holds it, and
// this process does nothing under it.
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

// TakeLast takes the lease before this process ends, and has others that end wait for Release. It returns false when a process that goes
// on holds the lease and has renewed or taken it since this was called, so that it sees all that was done before. ErrSilent when ctx
// ends first.
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

// Lease is what Take has taken last.
func (e *Elector) Lease() Lease { return *e.lease.Load() }

// Held reports whether this process holds the lease, as far as it knows.
func (e *Elector) Held() bool { return e.held.Load() }

// Keep renews the lease five times in the time that it lasts, until stop is called. The context that it returns ends when the lease is
// lost, with ErrLost as its cause. A store that does not answer ends nothing: whatever is written meanwhile finds out.
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

// Release gives the lease up if it is held, so that another replica can continue at once.
func (e *Elector) Release(ctx context.Context) error {
	if !e.held.Swap(false) {
		return nil
	}
	return e.store.ReleaseLease(ctx, e.Lease())
}
