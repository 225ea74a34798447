package app

import (
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// SeedMembers writes members of a guild that is not loaded yet straight into the archive, as an import would; the first
// request for the guild loads them. Rows must be valid and name no user twice.
func (a *App) SeedMembers(ctx context.Context, gid id.Guild, rows []snapshot.Row) error {
	g, err := a.stores.archive.Guild(ctx, gid)
	if err != nil {
		return fmt.Errorf("seed guild %s: %w", gid, err)
	}
	return a.writer.Import(ctx, leaderboard.Ref(g), rows)
}
