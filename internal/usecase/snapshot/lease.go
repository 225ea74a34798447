package snapshot

import (
	"context"
	"errors"
	"sync"
	"time"
)

// tickTime is how often the lease is renewed or tried for.
func (w *Writer) tickTime() time.Duration {
	return max(w.interval/4, time.Millisecond)
}

func (w *Writer) leaseTime() time.Duration {
	return max(w.interval+w.interval/4, 100*time.Millisecond)
}

// takeLease renews the lease or tries for it, and reports whether this process holds it.
func (w *Writer) takeLease(ctx context.Context) bool {
	lease, err := w.archive.AcquireLease(ctx, w.holder, w.leaseTime())
	switch {
	case err == nil:
		if w.held && lease.Fence != w.lease.Fence {
			leasesLost.Inc() // and got back since
		}
		if !w.held || lease.Fence != w.lease.Fence {
			w.rounds = 0 // a new holder sweeps: what the last one had taken out of the index is nowhere else
			w.log.InfoContext(ctx, "this process writes the snapshots now", "fence", lease.Fence)
		}
		w.lease, w.cutOff = lease, false
		w.hold(true)
	case errors.Is(err, ErrLeaseLost):
		held := w.held
		w.cutOff = false
		w.hold(false) // first, or a scrape could count the loss and see the lease held
		if held {
			leasesLost.Inc()
			w.log.WarnContext(ctx, "the snapshot lease passed to another replica, which writes now; if it happens again, find out what holds this one up")
		}
	case ctx.Err() == nil:
		if !w.cutOff {
			w.log.ErrorContext(ctx, "the archive does not answer; changes wait in Redis until it does: look after the archive, and keep Redis running", "error", err)
		}
		w.cutOff = true
		w.hold(false)
		if w.passed(w.lastRound) && w.passed(w.missed) {
			w.missed = time.Now()
			failures.Inc()
		}
	}
	return w.held
}

func (w *Writer) hold(held bool) {
	w.held = held
	w.holds.Store(held)
}

// keepLease renews the lease until stop is called. The context that it returns ends when the lease is lost, with that as
// its cause. An archive that does not answer is left to the batches to find out.
func (w *Writer) keepLease(ctx context.Context) (leased context.Context, stop func()) {
	leased, cancel := context.WithCancelCause(ctx)
	held := w.lease
	var renewal sync.WaitGroup
	renewal.Go(func() {
		ticker := time.NewTicker(w.tickTime())
		defer ticker.Stop()
		for {
			select {
			case <-leased.Done():
				return
			case <-ticker.C:
			}
			lease, err := w.archive.AcquireLease(leased, w.holder, w.leaseTime())
			if errors.Is(err, ErrLeaseLost) || err == nil && lease.Fence != held.Fence {
				cancel(ErrLeaseLost)
				return
			}
		}
	})
	return leased, func() {
		cancel(nil)
		renewal.Wait()
	}
}
