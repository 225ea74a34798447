package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/snapshot"
)

// merge makes one entry of an archived one, m, and one of a live store at epoch $17, which knew of what was archived up to rev $18. A tombstone holds
// nothing, so to merge with it is to replace it. greatest passes over nulls.
const merge = `
	rev = CASE WHEN m.epoch = excluded.epoch THEN greatest(m.rev, excluded.rev) ELSE excluded.rev END, epoch = excluded.epoch, written_ms = excluded.written_ms, deleted = false,
	xp = greatest(m.xp, excluded.xp), message_count = greatest(m.message_count, excluded.message_count),
	updated_ms = greatest(m.updated_ms, excluded.updated_ms), cooldown_ms = greatest(m.cooldown_ms, excluded.cooldown_ms),
	words = ` + sqlarchive.ItsUser + `words ELSE m.words END,
	` + sqlarchive.MergeUser + `
	WHERE NOT m.deleted OR (m.epoch, m.rev) <= ($17::bigint, $18::bigint)`

// bury makes tombstones of the members $2 that were not written after rev $4 of epoch $3.
const bury = `
	UPDATE members SET epoch = $3, rev = $5, written_ms = ` + nowMS + `, words = '', ` + sqlarchive.Bury + `
	WHERE incarnation = $1 AND user_id = ANY ($2::text[]) AND NOT deleted AND (epoch, rev) <= ($3::bigint, $4::bigint)`

// Salvage implements hydrate.Archive. All rows are merged in one statement.
func (a *Archive) Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error {
	if err := b.Check(); err != nil {
		return wrap("salvage members", err)
	}
	return a.inTx(ctx, "salvage", func(ctx context.Context, tx pgx.Tx) error {
		state, err := sqlarchive.ScanState(tx.QueryRow(ctx,
			`SELECT epoch, archived, verified FROM guilds WHERE id = $1 AND incarnation = $2 FOR NO KEY UPDATE`, string(b.Guild.ID), int64(b.Guild.Incarnation)))
		if err != nil {
			return err
		}
		if state != from {
			return snapshot.ErrStale
		}
		written := b.Salvaged(from)
		if err := upsert(ctx, tx, []snapshot.Batch{written}, merge, b.Epoch, b.Known); err != nil {
			return err
		}
		if err := raiseGains(ctx, tx, written); err != nil {
			return err
		}
		if err := writeRecords(ctx, tx, []snapshot.Batch{written}); err != nil {
			return err
		}
		gone := b.Gone()
		if len(gone) == 0 || from.Epoch != b.Epoch {
			return nil
		}
		if _, err := tx.Exec(ctx, bury, int64(b.Guild.Incarnation), gone, b.Epoch, b.Known, written.AsOf); err != nil {
			return err
		}
		return buryGains(ctx, tx, b)
	})
}
