package snapshot

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"levelboard/internal/domain/id"
)

// sweepEvery is the number of intervals in which all loaded guilds are surveyed, a share in each. This finds changed guilds that are not in
// the index, because their replica was killed between the change and its note. Fully archived guilds are compared with the archive (compare).
const sweepEvery = 12

// sweeper is the writer's progress in surveying all loaded guilds.
type sweeper struct {
	due     bool       // a new sweep
	listing *listing   // nil if no list is being read
	unswept []id.Guild // guilds that were loaded at the sweep's start and are not surveyed yet
	share   int        // how many of them each round surveys
	cold    []Quiet    // idle guilds found, and not evicted yet
}

// listing is a list of all loaded guilds that is being read. For 100,000 guilds
// on a busy Redis this takes more than 20 seconds. Snapshots do not wait for it.
type listing struct {
	all    bool // survey all of them at once
	cancel context.CancelFunc
	ended  chan struct{} // closed at the end; do not read the fields below before
	guilds []id.Guild
	err    error
}

// beginSweep begins a sweep if one is due. The first one begins at once and replaces a running
// one; a later one begins after the previous one. Listing the guilds ends with ctx at the latest.
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

// unlist cancels a list that is being read.
func (w *Writer) unlist() {
	if l := w.sweeper.listing; l != nil {
		l.cancel()
		<-l.ended
		w.sweeper.listing = nil
	}
}

// takeList starts the survey of a list that has been read completely. It waits for the list while
// the round has time. A late round waits a moment too, or late rounds would never take a list.
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

// sweep surveys the next share of the loaded guilds, or all. It writes the changed ones and collects
// the idle ones. After an error it writes the changed ones that it found, and collects none.
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
		// After a restart of the live store, all guilds may be unverified. They lose nothing by waiting, and changed guilds do not wait for them.
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

// shareOf returns how many of the guilds to survey in each round, so that all are surveyed before the next sweep begins.
func shareOf(guilds []id.Guild) int { return (len(guilds) + sweepEvery - 2) / (sweepEvery - 1) }
