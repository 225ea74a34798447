package sqlarchive

import (
	"context"
	"time"

	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Import implements checkpoints.Archive.
func (c *Catalog) Import(ctx context.Context, g leaderboard.GuildRef, files string) (*checkpoints.NotedImport, error) {
	return one(ctx, c, "read_import", orMissing(nil, scanImport), `
		SELECT name, checkpoint, plan, started_ms, now_ms() - started_ms, finished FROM imports WHERE incarnation = $1 AND files = $2`,
		int64(g.Incarnation), files)
}

func scanImport(row Row) (*checkpoints.NotedImport, error) {
	var i checkpoints.NotedImport
	var age int64
	err := row.Scan(&i.ID, &i.Checkpoint, &i.Plan, millis{&i.Started}, &age, &i.Finished)
	if err != nil {
		return nil, err
	}
	i.Age = time.Duration(age) * time.Millisecond
	return &i, nil
}

// StartImport implements checkpoints.Archive.
func (c *Catalog) StartImport(ctx context.Context, g leaderboard.GuildRef, files string, i checkpoints.NotedImport, replaces string) error {
	return c.inSlow(ctx, "start_import", func(t *tx) {
		now := t.locksIncarnation(g)
		t.exec(`DELETE FROM imports WHERE incarnation = $1 AND files = $2 AND name = $3`, int64(g.Incarnation), files, replaces)
		t.exec(`INSERT INTO imports (incarnation, files, name, checkpoint, plan, started_ms, finished) VALUES ($1, $2, $3, $4, $5, $6, false)`,
			int64(g.Incarnation), files, i.ID, i.Checkpoint, i.Plan, now)
	})
}

// FinishImport implements checkpoints.Archive.
func (c *Catalog) FinishImport(ctx context.Context, g leaderboard.GuildRef, importID string, members int64) error {
	return c.inSlow(ctx, "finish_import", func(t *tx) {
		t.exec(`UPDATE imports SET finished = true WHERE incarnation = $1 AND name = $2`, int64(g.Incarnation), importID)
		if t.exec(`UPDATE guilds SET reset = $3 WHERE id = $1 AND incarnation = $2`, string(g.ID), int64(g.Incarnation), string(events.Imported)) == 0 {
			t.fail(snapshot.ErrStale)
		}
		t.audited(g.ID, audit.Entry{Action: audit.Imported, Count: &members}, nil, nil)
	})
}
