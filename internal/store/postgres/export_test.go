package postgres

import (
	"context"
	"testing"
	"time"

	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// CloseRecords is the end of a RaiseEpoch from that state.
func (a *Archive) CloseRecords(ctx context.Context, g leaderboard.GuildRef, from snapshot.State) error {
	return a.closeRecords(ctx, g, from.Epoch, hydrate.Reloaded)
}

// Hasty bounds every operation by so long until the test ends.
func Hasty(t *testing.T, within time.Duration) {
	before := operationTime
	operationTime = within
	t.Cleanup(func() { operationTime = before })
}
