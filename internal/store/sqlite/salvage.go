package sqlite

import (
	"context"
	"database/sql"

	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/snapshot"
)

// merge makes one entry of an archived one, m, and one of a live store at an epoch, which knew of what was archived up to a rev, its parameters. A tombstone
// holds nothing, so to merge with it is to replace it. max of a null is null, so either time stands in for it.
const merge = `
	rev = CASE WHEN m.epoch = excluded.epoch THEN max(m.rev, excluded.rev) ELSE excluded.rev END, epoch = excluded.epoch, written_ms = excluded.written_ms, deleted = 0,
	xp = max(m.xp, excluded.xp), message_count = max(m.message_count, excluded.message_count),
	updated_ms = coalesce(max(m.updated_ms, excluded.updated_ms), m.updated_ms, excluded.updated_ms),
	cooldown_ms = coalesce(max(m.cooldown_ms, excluded.cooldown_ms), m.cooldown_ms, excluded.cooldown_ms),
	` + sqlarchive.MergeUser + `
	WHERE NOT m.deleted OR (m.epoch, m.rev) <= (?, ?)`

// bury makes a tombstone of the member ?2 if it was not written after rev ?4 of epoch ?3.
const bury = `
	UPDATE members SET epoch = ?3, rev = ?5, written_ms = ?6, ` + sqlarchive.Bury + `
	WHERE incarnation = ?1 AND user_id = ?2 AND NOT deleted AND (epoch, rev) <= (?3, ?4)`

// Salvage implements hydrate.Archive.
func (a *Archive) Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error {
	if err := b.Check(); err != nil {
		return wrap("salvage members", err)
	}
	return a.inTx(ctx, "salvage members", func(tx *sql.Tx) error {
		state, err := stateOf(ctx, tx, b.Guild)
		if err != nil {
			return err
		}
		if state != from {
			return snapshot.ErrStale
		}
		written := b.Salvaged(from)
		if err := upsert(ctx, tx, written, merge, b.Epoch, b.Known); err != nil {
			return err
		}
		if err := raiseGains(ctx, tx, written); err != nil {
			return err
		}
		if err := writeRecords(ctx, tx, written); err != nil || from.Epoch != b.Epoch {
			return err
		}
		for _, user := range b.Gone() {
			_, err := tx.ExecContext(ctx, bury, int64(b.Guild.Incarnation), string(user), b.Epoch, b.Known, written.AsOf, nowMS())
			if err == nil {
				_, err = tx.ExecContext(ctx, dropGains, int64(b.Guild.Incarnation), string(user))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
