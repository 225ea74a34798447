package erasure

import (
	"context"
	"time"

	"levelboard/internal/domain/id"
)

const (
	// leastPause and mostPause bound the time between two looks of Run, which is that between two snapshots.
	leastPause, mostPause = time.Second, 10 * time.Second
	// openAtOnce is how many erasures one look ends.
	openAtOnce = 20
)

// Run ends erasures that were cut off, and erases what an older Redis brought back beside the guilds' members, until ctx ends: while this process
// holds the lease of the snapshots.
func (e *Eraser) Run(ctx context.Context) {
	ticker := time.NewTicker(min(max(e.o.Interval, leastPause), mostPause))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := e.Look(ctx)
		if err != nil && !e.failing && ctx.Err() == nil {
			e.o.Log.WarnContext(ctx, "the erasure of a user is not complete; it is tried again: look after Redis and the archive", "error", err)
		}
		e.failing = err != nil
	}
}

// Look does once what Run does again and again.
func (e *Eraser) Look(ctx context.Context) error {
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
