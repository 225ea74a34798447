package announce

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

const (
	// lookEvery is how long what happened waits at most until it is looked at.
	lookEvery = time.Second
	// sweepEvery is how often all announcements are looked at, for what a killed replica did not note; boards in every tenth sweep.
	sweepEvery  = time.Minute
	boardSweeps = 10
	// sweepSize is how many announcements are looked at in one round trip, and guildsAtOnce of how many guilds states are read.
	sweepSize    = 500
	guildsAtOnce = 500
	// triesAtOnce is how many posts are sent at the same time, to all hosts together.
	triesAtOnce = 512
	lookTime    = 30 * time.Second
)

// work is what there is to do. mu guards it.
type work struct {
	mu     sync.Mutex
	fence  int64             // of the lease under which it is done; 0 without it
	due    map[id.Guild]bool // to be looked at
	busy   map[Key]bool      // an announcement that is being worked on; true when more happened meanwhile
	boards map[Key]time.Time // when to look at a board again
	tries  chan struct{}
}

// Changed has a guild looked at whose settings have changed, or in which something happened.
func (a *Announcer) Changed(g id.Guild) {
	a.work.mu.Lock()
	defer a.work.mu.Unlock()
	if a.work.fence != 0 {
		a.work.due[g] = true
	}
}

// Run posts while this process holds the lease, until ctx ends.
func (a *Announcer) Run(ctx context.Context) {
	defer a.client.Close()
	var working sync.WaitGroup
	defer working.Wait()
	term, end := context.WithCancel(ctx) // of the lease
	defer func() { end() }()
	held, sweeps, nextSweep := lease.Lease{}, 0, time.Time{}
	look := func(ctx context.Context) error {
		l, ok := a.Lease()
		if !ok || l.Fence != held.Fence {
			end()
			working.Wait()
			term, end = context.WithCancel(ctx)
			held, sweeps, nextSweep = lease.Lease{}, 0, time.Time{}
			if ok {
				held = l
			}
			a.work.begin(held.Fence)
		}
		if !ok {
			return nil
		}
		all := time.Now().After(nextSweep)
		if all {
			nextSweep = time.Now().Add(sweepEvery)
		}
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		states, err := a.look(ctx, all, sweeps%boardSweeps == 0)
		if all {
			sweeps++
		}
		if err != nil {
			nextSweep = time.Time{} // what was taken out of the live store is nowhere else
			sweeps = 0
		}
		for _, s := range states {
			if s.Off != "" || s.Kind == announcement.Bot || !a.work.start(s.Key) {
				continue
			}
			working.Go(func() {
				if a.deliver(term, held, s); a.work.done(s.Key) {
					a.Changed(s.Guild)
				}
			})
		}
		return err
	}
	pause.Again(ctx, func() time.Duration { return a.every }, look, func(err error) {
		a.Log.WarnContext(ctx, "announcements cannot be posted; they are retried, and dropped after 15 minutes: check Redis and the archive", "error", err)
	})
	end()
}

// begin forgets what was done under another lease.
func (w *work) begin(fence int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fence = fence
	clear(w.due)
	clear(w.busy)
	clear(w.boards)
}

// start reports whether nobody works on an announcement; if somebody does, they continue.
func (w *work) start(k Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, busy := w.busy[k]; busy {
		w.busy[k] = true
		return false
	}
	w.busy[k] = false
	return true
}

// done reports whether more happened meanwhile.
func (w *work) done(k Key) (more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	more = w.busy[k]
	delete(w.busy, k)
	return more
}

// later has a board looked at again then.
func (w *work) later(k Key, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.boards[k] = at
}

// take returns the guilds that are due.
func (w *work) take(now time.Time) (guilds []id.Guild) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, at := range w.boards {
		if !now.Before(at) {
			w.due[k.Guild] = true
			delete(w.boards, k)
		}
	}
	for g := range w.due {
		guilds = append(guilds, g)
	}
	clear(w.due)
	return guilds
}

// look returns the announcements that there may be something to do for. Those that could not be read are due again.
func (a *Announcer) look(ctx context.Context, all, boards bool) (states []State, err error) {
	eventful, err := a.Live.TakeEventful(ctx)
	for _, g := range eventful {
		a.Changed(g)
	}
	for part := range slices.Chunk(a.work.take(time.Now()), guildsAtOnce) {
		found, failed := a.Archive.AnnouncementStates(ctx, part)
		if failed != nil {
			err = errors.Join(err, failed)
			for _, g := range part {
				a.Changed(g)
			}
		}
		states = append(states, found...)
	}
	if all {
		swept, failed := a.sweep(ctx, boards)
		states, err = append(states, swept...), errors.Join(err, failed)
	}
	return states, err
}

// sweep finds all announcements with events after their cursor, and boards.
func (a *Announcer) sweep(ctx context.Context, boards bool) (states []State, err error) {
	for after := (Key{}); ; {
		page, err := a.Archive.AnnouncementsOn(ctx, after, sweepSize)
		if err != nil {
			return states, err
		}
		var from []events.Cursor
		var of []State
		for _, s := range page {
			after = s.Key
			if s.Kind == announcement.Board {
				if boards {
					states = append(states, s)
				}
				continue
			}
			from = append(from, events.Cursor{Guild: leaderboard.GuildRef{ID: s.Guild, Incarnation: s.Incarnation}, After: s.Cursor})
			of = append(of, s)
		}
		read, err := a.Live.ReadEvents(ctx, from, 1)
		for i, entries := range read {
			if len(entries) > 0 {
				states = append(states, of[i])
			}
		}
		if err != nil || len(page) < sweepSize {
			return states, err
		}
	}
}
