package hydrate

import (
	"context"
	"sync"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

const (
	// renewTime is the time between two steps that keep a guild frozen.
	renewTime = 3 * time.Second
	// cleanUpTime bounds the end of a freeze that was for nothing.
	cleanUpTime = 5 * time.Second
)

// Freezer is the live store that Frozen needs.
type Freezer interface {
	// Freeze keeps a loaded guild from being read and changed by anybody but the snapshot writer, until AbortHydration, Drop or ten seconds after
	// the last call of KeepFrozen. leaderboard.ErrNotLoaded; ErrLost when it is frozen or being loaded.
	Freeze(ctx context.Context, g leaderboard.GuildRef) (Lock, error)
	// KeepFrozen keeps a guild frozen, and reports whether all of its changes are archived; s is then the archive's state. ErrLost when the guild is
	// no longer frozen.
	KeepFrozen(ctx context.Context, h Lock) (s snapshot.State, archived bool, err error)
	AbortHydration(ctx context.Context, h Lock) error
}

// Frozen does something with a guild that nobody reads or changes meanwhile, once all of its changes are archived: do takes it out of the live store, or
// fails. Then the guild does not stay frozen.
func Frozen(ctx context.Context, live Freezer, g leaderboard.GuildRef, do func(Lock, snapshot.State) error) (err error) {
	lock, err := live.Freeze(ctx, g)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			after, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
			defer cancel()
			_ = live.AbortHydration(after, lock) // otherwise it expires
		}
	}()
	state, err := untilArchived(ctx, live, lock)
	if err != nil {
		return err
	}
	keeping, stop := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() {
		for pause.For(keeping, renewTime) {
			_, _, _ = live.KeepFrozen(keeping, lock) // when it is not frozen any more the archive knows: its epoch was raised
		}
	})
	err = do(lock, state)
	stop()
	keeper.Wait()
	return err
}

// untilArchived waits until everything of a frozen guild is archived, for snapshot.StallTime. snapshot.ErrNotArchived.
func untilArchived(ctx context.Context, live Freezer, lock Lock) (snapshot.State, error) {
	var wait snapshot.Wait[struct{}]
	for {
		s, archived, err := live.KeepFrozen(ctx, lock)
		if err != nil || archived {
			return s, err
		}
		if err := wait.Again(ctx, struct{}{}); err != nil {
			return s, err
		}
	}
}
