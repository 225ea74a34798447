package snapshot

import (
	"context"
	"fmt"
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

// Import writes members of a guild that is not loaded straight into the archive. It takes the lease if it must, so that no round runs meanwhile. The
// rows carry the guild's next rev, and so replace older ones.
func (w *Writer) Import(ctx context.Context, g leaderboard.GuildRef, rows []Row) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.takeLease(ctx) {
		return fmt.Errorf("import into guild %s: %w", g.ID, lease.ErrLost)
	}
	state, err := w.archive.State(ctx, g)
	if err != nil {
		return fmt.Errorf("import into guild %s: %w", g.ID, err)
	}
	found := w.live.ReadChanges(ctx, []id.Guild{g.ID}, 1)[0]
	if found.Err != nil {
		return fmt.Errorf("import into guild %s: %w", g.ID, found.Err)
	}
	if found.Batch.Guild.ID != "" {
		return fmt.Errorf("import into guild %s: it is loaded, and its members in Redis would win", g.ID)
	}
	for part := range slices.Chunk(rows, pageSize) {
		batch := Batch{Guild: g, Epoch: state.Epoch, Rev: state.Archived + 1, Known: state.Archived + 1, Rows: part}
		if err := WriteBatch(ctx, w.archive, w.lease.Lease(), batch); err != nil {
			return fmt.Errorf("import into guild %s: %w", g.ID, err)
		}
	}
	return nil
}
