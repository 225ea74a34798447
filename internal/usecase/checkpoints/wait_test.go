package checkpoints_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// stuck are stores of a guild whose archive lacks the change of rev 2.
type stuck struct {
	checkpoints.Archive
	checkpoints.Live
	leaderboard.Loader
	archived func(look int) int64
	looks    int
	thawed   bool
}

func (*stuck) Guild(context.Context, id.Guild) (*guild.Guild, error) { return &guild.Guild{}, nil }

func (s *stuck) State(context.Context, leaderboard.GuildRef) (snapshot.State, error) {
	s.looks++
	return snapshot.State{Epoch: 1, Archived: s.archived(s.looks)}, nil
}

func (*stuck) Version(context.Context, leaderboard.GuildRef) (leaderboard.Version, error) {
	return leaderboard.Version{Epoch: 1, Rev: 1 << 40}, nil
}

func (*stuck) Freeze(context.Context, leaderboard.GuildRef) (hydrate.Lock, error) {
	return hydrate.Lock{}, nil
}

func (*stuck) KeepFrozen(context.Context, hydrate.Lock) (snapshot.State, bool, error) {
	return snapshot.State{}, false, nil
}

func (s *stuck) AbortHydration(context.Context, hydrate.Lock) error {
	s.thawed = true
	return nil
}

func (*stuck) Announce(context.Context, changes.Kind, string) {}

// of returns the use cases on s.
func of(s *stuck) *checkpoints.Checkpoints { return checkpoints.New(s, s, s, s, checkpoints.Options{}) }

// While the snapshot writer makes no progress, a wait for it ends with an error that says so. While it makes progress, the wait lasts as
// long as the request. The guild does not stay frozen afterwards.
func TestAWaitForTheSnapshotWriterEnds(t *testing.T) {
	for name, wait := range map[string]func(c *checkpoints.Checkpoints, ctx context.Context) error{
		"a checkpoint": func(c *checkpoints.Checkpoints, ctx context.Context) error {
			_, err := c.Create(ctx, "1", "kept", false)
			return err
		},
		"an export": func(c *checkpoints.Checkpoints, ctx context.Context) error {
			_, _, err := c.Export(ctx, "1")
			return err
		},
		"the end of an import": func(c *checkpoints.Checkpoints, ctx context.Context) error { return c.FinishImport(ctx, "1", "x", 1) },
		"a reset": func(c *checkpoints.Checkpoints, ctx context.Context) error {
			_, err := c.Reset(ctx, "1")
			return err
		},
	} {
		for progress, archived := range map[string]func(look int) int64{
			"nothing is archived": func(int) int64 { return 1 },
			"something always is": func(look int) int64 { return int64(look) },
		} {
			t.Run(name+", "+progress, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const patience = 20 * time.Minute
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					began, s := time.Now(), &stuck{archived: archived}
					err := wait(of(s), ctx)
					var f *fault.Error
					if !errors.Is(err, snapshot.ErrNotArchived) || !errors.As(err, &f) || f.Code != fault.Unavailable || f.RetryAfter == 0 {
						t.Errorf("the wait ends with %v, want snapshot.ErrNotArchived, 503 with Retry-After", err)
					}
					inTime := progress == "nothing is archived" || name == "a reset"
					if waited := time.Since(began); (waited < patience) != inTime || waited < snapshot.StallTime {
						t.Errorf("the wait ends after %v, want at least %v, and before the request's %v: %v", waited, snapshot.StallTime, patience, inTime)
					}
					if name == "a reset" && !s.thawed {
						t.Error("after a failed reset the guild is still frozen")
					}
				})
			})
		}
	}
}
