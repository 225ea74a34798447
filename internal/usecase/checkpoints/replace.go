package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

const (
	// retryPause is the pause between two attempts to replace a guild.
	retryPause = 100 * time.Millisecond
	// cleanUpTime bounds the clean-up after a replacement.
	cleanUpTime = 5 * time.Second
)

// Restore replaces the guild's members by those of a checkpoint, all or nothing. Meanwhile nobody can read or change the guild.
func (c *Checkpoints) Restore(ctx context.Context, g id.Guild, checkpoint string) (Replaced, error) {
	done, err := c.replace(ctx, g, Replacement{From: checkpoint, Name: "Before a restore", Why: events.Restored})
	return done, asFault("restore a checkpoint", err)
}

// Reset removes all members of the guild in the same way.
func (c *Checkpoints) Reset(ctx context.Context, g id.Guild) (Replaced, error) {
	done, err := c.replace(ctx, g, Replacement{Name: "Before a reset", Why: events.Cleared})
	return done, asFault("reset a guild", err)
}

// replace retries until it succeeds or ctx ends: the guild may be loading, or a period may have to close first.
func (c *Checkpoints) replace(ctx context.Context, gid id.Guild, r Replacement) (Replaced, error) {
	for {
		g, err := c.archive.Guild(ctx, gid)
		if err != nil {
			return Replaced{}, err
		}
		r.Guild = leaderboard.Ref(g)
		if r.From != "" { // do not freeze the guild for a checkpoint that does not exist
			if _, err := c.find(ctx, gid, r.From); err != nil {
				return Replaced{}, err
			}
		}
		done, why := c.replaceFrozen(ctx, r)
		switch {
		case errors.Is(why, leaderboard.ErrNotLoaded):
			if err := c.loader.Load(ctx, r.Guild); err != nil && !errors.Is(err, leaderboard.ErrGuildMoved) {
				return done, err
			}
		case errors.Is(why, ErrPeriodCloses), errors.Is(why, hydrate.ErrLost), errors.Is(why, snapshot.ErrStale):
		default:
			return done, why
		}
		if !pause.For(ctx, retryPause) {
			return done, fmt.Errorf("%w: %w", ctx.Err(), why)
		}
	}
}

// find looks for a checkpoint of a guild. It returns ErrUnknown if there is none.
func (c *Checkpoints) find(ctx context.Context, g id.Guild, checkpoint string) (Checkpoint, error) {
	all, err := c.archive.Checkpoints(ctx, g)
	for _, one := range all {
		if one.ID == checkpoint {
			return one, nil
		}
	}
	if err == nil {
		err = ErrUnknown
	}
	return Checkpoint{}, err
}

// replaceFrozen freezes the guild, waits until all its changes are archived, and replaces it. A committed change counts even if its answer was lost.
func (c *Checkpoints) replaceFrozen(ctx context.Context, r Replacement) (done Replaced, err error) {
	err = hydrate.Frozen(ctx, c.live, r.Guild, func(_ hydrate.Lock, s snapshot.State) (err error) {
		r.State = s
		done, err = c.archive.Replace(ctx, r)
		return err
	})
	if err != nil {
		return done, err
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	_ = c.live.Drop(after, r.Guild) // if this fails, the snapshot writer drops it
	c.announce.Announce(after, changes.Guild, string(r.Guild.ID))
	return done, nil
}

// asFault maps an error of the stores. An unknown error means that a store did not respond in time.
func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, guild.ErrNotFound), errors.Is(err, leaderboard.ErrGuildMoved):
		return fault.Wrap(err, fault.NotFound, "This guild is not known here. Create it first, for example with 'levelboard guild apply'.")
	case errors.Is(err, ErrUnknown):
		return fault.Wrap(err, fault.NotFound, "This guild has no checkpoint with this id. 'levelboard checkpoint list' lists those that it has.")
	case errors.Is(err, ErrTooMany):
		return fault.Wrap(err, fault.Conflict, "The guild has %d checkpoints made by hand already. Delete one that you do not need.", MaxManual)
	case errors.Is(err, snapshot.ErrNotArchived):
		return inAMinute(op, err, "Not all changes of this guild are archived yet, which this has to wait for.")
	case errors.Is(err, ErrPeriodCloses):
		return inAMinute(op, err, "A period of this guild has ended and is being closed.")
	}
	return fault.Down(op, err)
}

// inAMinute is the fault for a call that waited too long.
func inAMinute(op string, err error, why string) error {
	return &fault.Error{
		Code: fault.Unavailable, RetryAfter: time.Minute, Cause: fmt.Errorf("%s: %w", op, err), Message: why + " Try again in a minute.",
	}
}
