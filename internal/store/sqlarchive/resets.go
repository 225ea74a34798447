package sqlarchive

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/periods"
)

// Resets implements periods.Archive.
func (c *Catalog) Resets(ctx context.Context, after id.Guild, limit int) ([]periods.Reset, error) {
	return list(ctx, c, "list_resets", func(row Row) (r periods.Reset, err error) {
		err = row.Scan(&r.Guild.ID, &r.Guild.Incarnation, &r.Why)
		return r, err
	}, `SELECT id, incarnation, reset FROM guilds WHERE reset <> '' AND id > $1 ORDER BY id LIMIT $2`, string(after), limit)
}

// Told implements periods.Archive.
func (c *Catalog) Told(ctx context.Context, r periods.Reset) error {
	return c.run(ctx, "note_reset", `UPDATE guilds SET reset = '' WHERE id = $1 AND incarnation = $2 AND reset = $3`,
		string(r.Guild.ID), int64(r.Guild.Incarnation), string(r.Why))
}
