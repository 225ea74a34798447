package erasure

import (
	"context"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
)

const (
	// leastPause and mostPause bound the time between two looks of Run, which is that between two snapshots.
	leastPause, mostPause = time.Second, 10 * time.Second
	// openAtOnce is how many erasures one look ends.
	openAtOnce = 20
)

// Run completes erasures that were cut off, and erases events and sessions that an older Redis brought back, until ctx ends, while this process
// holds the snapshot lease.
func (e *Eraser) Run(ctx context.Context) {
	interval := func() time.Duration { return min(max(e.o.Interval, leastPause), mostPause) }
	pause.Again(ctx, interval, e.look, func(err error) {
		e.o.Log.WarnContext(ctx, "the erasure of a user is not complete; it is retried: check Redis and the archive", "error", err)
	})
}

// look is one round of Run.
func (e *Eraser) look(ctx context.Context) error {
	if _, held := e.o.Lease(); !held {
		e.lives = ""
		return nil
	}
	open, err := e.archive.OpenErasures(ctx, openAtOnce)
	for _, o := range open {
		if !e.isActive(o.User) && err == nil {
			err = e.erase(ctx, o)
		}
	}
	if err == nil {
		err = e.lookAround(ctx)
	}
	return err
}

// lookAround erases events and sessions of erased users in Redis servers that may have come back with older data. Their entries are not
// compared here, but when their guilds are.
func (e *Eraser) lookAround(ctx context.Context) error {
	lives, err := e.live.Lives(ctx)
	if err != nil || lives == e.lives {
		return err
	}
	if any, err := e.archive.HasErasures(ctx); err != nil || !any {
		return err
	}
	if err := e.live.EraseOldEvents(ctx, e.archive.Erased); err != nil {
		return err
	}
	err = e.live.SessionUsers(ctx, func(users []id.User) error {
		erased, err := e.archive.Erased(ctx, users)
		for user, erasure := range erased {
			if err == nil {
				err = e.live.EndSessionsBefore(ctx, user, erasure.Until)
			}
		}
		return err
	})
	if err == nil {
		e.lives = lives
	}
	return err
}
