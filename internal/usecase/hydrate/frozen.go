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
	// renewTime is the pause between two calls that keep a guild frozen.
	renewTime = 3 * time.Second
	// cleanUpTime bounds the end of a freeze after an error.
	cleanUpTime = 5 * time.Second
)

// Freezer is what Frozen needs of the live store.
type Freezer interface {
	// Freeze keeps all callers except the snapshot writer from reading and changing a loaded guild. It lasts until AbortHydration, Drop
	// or ten seconds after the last KeepFrozen. It returns leaderboard.ErrNotLoaded, and ErrLost if the guild is frozen or being loaded.
	Freeze(ctx context.Context, g leaderboard.GuildRef) (Lock, error)
	// KeepFrozen keeps a guild frozen, and reports whether all of its changes are archived;
	// s is then the archive's state. It returns ErrLost if the guild is no longer frozen.
	KeepFrozen(ctx context.Context, h Lock) (s snapshot.State, archived bool, err error)
	AbortHydration(ctx context.Context, h Lock) error
}

// Frozen freezes a guild, waits until all its changes are archived, and calls do. Meanwhile nobody
// reads or changes the guild. do must take it out of the live store, or fail; then Frozen unfreezes it.
func Frozen(ctx context.Context, live Freezer, g leaderboard.GuildRef, do func(Lock, snapshot.State) error) (err error) {
	lock, err := live.Freeze(ctx, g)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			after, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
			defer cancel()
			_ = live.AbortHydration(after, lock) // if this fails, the freeze expires
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
			_, _, _ = live.KeepFrozen(keeping, lock) // if the freeze was lost, the archive rejects do by the raised epoch
		}
	})
	err = do(lock, state)
	stop()
	keeper.Wait()
	return err
}

// untilArchived waits until all changes of a frozen guild are archived, for snapshot.StallTime. It returns snapshot.ErrNotArchived.
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
