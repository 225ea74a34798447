package app

import (
	"context"
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// SeedMembers writes members straight into the archive, as an import would. The guild must not be loaded yet; its first request
// loads them. Its periods close in the background, from the first day that has gains. Rows must be valid and name no user twice.
func (a *App) SeedMembers(ctx context.Context, gid id.Guild, rows []snapshot.Row) error {
	g, err := a.stores.archive.Guild(ctx, gid)
	if err != nil {
		return fmt.Errorf("seed guild %s: %w", gid, err)
	}
	if err := a.writer.Import(ctx, leaderboard.Ref(g), rows); err != nil {
		return err
	}
	first, ok := firstGain(rows)
	if calendar := g.Calendar(); !ok || !calendar.Counts() {
		return nil
	}
	if err := a.periods.Begin(ctx, g, first); err != nil {
		return fmt.Errorf("seed guild %s: open the periods from %s on: %w", gid, first, err)
	}
	return nil
}

// firstGain is the earliest day on which any of the members gained XP.
func firstGain(rows []snapshot.Row) (first period.Day, ok bool) {
	for i := range rows {
		for _, g := range rows[i].Gains {
			if !ok || g.Day < first {
				first, ok = g.Day, true
			}
		}
	}
	return first, ok
}
