package snapshot

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"levelboard/internal/domain/id"
)

// sweepEvery is the number of intervals in which all loaded guilds are looked at, a share in each: a replica that was killed between a change and its
// note in the index leaves a changed guild that is not in it. Fully archived guilds are compared with the archive (compare).
const sweepEvery = 12

// sweeper is how far the writer is with looking at all loaded guilds.
type sweeper struct {
	due     bool       // a new one
	listing *listing   // nil when there is none
	unswept []id.Guild // of the guilds that were loaded when it began, the ones not looked at yet
	share   int        // of them, how many in a round
	cold    []Quiet    // found, and not evicted yet
}

// listing is a list of all loaded guilds on its way. Of 100,000 of them, on a Redis that has its hands full, it takes more than 20 seconds, for
// which the snapshots do not wait.
type listing struct {
	all    bool // look at all of them at once
	cancel context.CancelFunc
	ended  chan struct{} // closed; before, the rest is not to be read
	guilds []id.Guild
	err    error
}

// beginSweep begins a sweep if one is due: the first one at once, replacing one that is under way, later ones when the previous one is over. Listing
// the guilds ends with ctx at the latest.
func (w *Writer) beginSweep(ctx context.Context, due bool) {
	s, all := &w.sweeper, w.rounds == 0
	s.due = s.due || due
	if !all && (!s.due || s.listing != nil || len(s.unswept) > 0) {
		return
	}
	s.due = false
	w.unlist()
	ctx, cancel := context.WithCancel(ctx)
	l := &listing{all: all, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		l.guilds, l.err = w.live.LoadedGuilds(ctx)
	}()
	s.listing = l
}

// unlist ends a list that is under way.
func (w *Writer) unlist() {
	if l := w.sweeper.listing; l != nil {
		l.cancel()
		<-l.ended
		w.sweeper.listing = nil
	}
}

// takeList begins with the guilds of a list once it is there, and waits for it while there is time: a moment at least, or a round that is
// late would not look.
func (r *round) takeList(ctx context.Context) (all bool, err error) {
	s, l := &r.sweeper, r.sweeper.listing
	if l == nil {
		return false, nil
	}
	wait := max(time.Until(r.lastRound.Add(r.interval/2)), time.Millisecond)
	if r.hurry {
		wait = math.MaxInt64
	}
	select {
	case <-l.ended:
	case <-ctx.Done():
		return false, nil
	case <-time.After(wait):
		return false, nil
	}
	r.unlist()
	s.unswept, s.cold, s.share = l.guilds, nil, shareOf(l.guilds)
	if l.all {
		s.share = len(l.guilds)
	}
	if n := len(l.guilds); l.err == nil {
		r.loaded.Store(&n)
	}
	return l.all, l.err
}

// sweep looks at the next share of the loaded guilds, or at all: it writes the changed ones and notes the idle ones. After an error it writes the
// changed ones that it found, and notes none.
func (r *round) sweep(ctx context.Context) error {
	all, unlisted := r.takeList(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s := &r.sweeper
	share := s.unswept[:min(s.share, len(s.unswept))]
	s.unswept = s.unswept[len(share):]
	if len(share) == 0 {
		return unlisted
	}
	seen, err := r.live.Survey(ctx, share, evictIdle(r.idle))
	r.write(ctx, seen.Changed)
	if all && !r.hurry {
		// After a restart of the live store these may be all guilds. They lose nothing while they wait, and changed guilds do not wait for them.
		s.unswept, s.share = seen.Unverified, shareOf(seen.Unverified)
	} else {
		r.write(ctx, seen.Unverified)
	}
	r.compare(ctx, slices.Concat(seen.Cold, seen.Warm))
	if err = errors.Join(unlisted, err); err == nil {
		s.cold = append(s.cold, seen.Cold...)
	}
	return err
}

// shareOf is how many of the guilds a round takes so that all are taken before the next sweep begins.
func shareOf(guilds []id.Guild) int { return (len(guilds) + sweepEvery - 2) / (sweepEvery - 1) }
