package snapshot

import (
	"context"
	"errors"
	"slices"

	"levelboard/internal/domain/id"
)

// sweepEvery is the number of intervals in which all loaded guilds are looked at, a share in each, not only those in the index:
// a replica that was killed between a change and its note in the index leaves a changed guild that nobody mentions. Those of which nothing
// waits are compared with the archive (compare).
const sweepEvery = 12

// sweeper is how far the writer is with looking at all loaded guilds.
type sweeper struct {
	due     bool       // a new one
	listing *listing   // nil when there is none
	unswept []id.Guild // of those that were loaded when it began, those that are to be looked at yet
	share   int        // of them, how many in a round
	cold    []Quiet    // found, and not evicted yet
}

// listing is a list of all loaded guilds on its way. Of 100,000 of them, on a Redis that has its hands full, it takes more than 20 seconds, for
// which the snapshots do not wait.
type listing struct {
	all    bool // they are to be looked at all at once
	cancel context.CancelFunc
	listed chan struct{} // closed at its end; before, the rest is not to be read
	guilds []id.Guild
	err    error
}

// beginSweep begins a sweep if one is due: the first one at once, the others when the one before is over.
func (w *Writer) beginSweep(ctx context.Context, due bool) {
	s, all := &w.sweeper, w.rounds == 0
	s.due = s.due || due
	if all || s.due && s.listing == nil && len(s.unswept) == 0 {
		s.due = false
		w.list(ctx, all)
	}
}

// list begins a list, in place of one that is under way. It ends with ctx at the latest.
func (w *Writer) list(ctx context.Context, all bool) {
	w.unlist()
	ctx, cancel := context.WithCancel(ctx)
	l := &listing{all: all, cancel: cancel, listed: make(chan struct{})}
	go func() {
		defer close(l.listed)
		l.guilds, l.err = w.live.LoadedGuilds(ctx)
	}()
	w.sweeper.listing = l
}

// unlist ends a list that is under way.
func (w *Writer) unlist() {
	if l := w.sweeper.listing; l != nil {
		l.cancel()
		<-l.listed
		w.sweeper.listing = nil
	}
}

// listed returns the list once it is there, and waits for it while there is time; nil when it is not there yet.
func (r *round) listed(ctx context.Context) *listing {
	l := r.sweeper.listing
	if l == nil {
		return nil
	}
	if !r.hurry {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, r.lastRound.Add(r.interval/2))
		defer cancel()
	}
	select {
	case <-l.listed:
	case <-ctx.Done():
	}
	select {
	case <-l.listed: // however late the round is
		r.unlist()
		return l
	default:
		return nil
	}
}

// sweep writes those of the next share of the loaded guilds that have changed, or of all, and notes those that nobody uses. With an error
// it did so with those that it found, and notes none.
func (r *round) sweep(ctx context.Context) error {
	var unlisted error
	all := false
	if l := r.listed(ctx); l != nil {
		all, unlisted = l.all, l.err
		r.sweeper.unswept, r.sweeper.cold, r.sweeper.share = l.guilds, nil, len(l.guilds)
		if n := len(l.guilds); unlisted == nil {
			r.loaded.Store(&n)
		}
		if !all {
			r.sweeper.share = shareOf(l.guilds)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	share := r.sweeper.next()
	if len(share) == 0 {
		return unlisted
	}
	seen, unasked := r.live.Survey(ctx, share, evictIdle(r.idle))
	r.write(ctx, seen.Changed)
	if all && !r.hurry {
		// They may be all there are, after a restart of the live store, and nothing of them is lost while they wait; what changes does not wait
		// for them.
		r.sweeper.unswept, r.sweeper.share = seen.Unverified, shareOf(seen.Unverified)
	} else {
		r.write(ctx, seen.Unverified)
	}
	r.compare(ctx, slices.Concat(seen.Cold, seen.Warm))
	unasked = errors.Join(unasked, r.forget(ctx, share))
	if err := errors.Join(unlisted, unasked); err != nil {
		return err
	}
	r.sweeper.cold = append(r.sweeper.cold, seen.Cold...)
	return nil
}

// next takes the share of a round.
func (s *sweeper) next() []id.Guild {
	share := s.unswept[:min(s.share, len(s.unswept))]
	s.unswept = s.unswept[len(share):]
	return share
}

// shareOf is how many of the guilds a round takes so that all are taken before the next sweep begins.
func shareOf(guilds []id.Guild) int { return (len(guilds) + sweepEvery - 2) / (sweepEvery - 1) }
