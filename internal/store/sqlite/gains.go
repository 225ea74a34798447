package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"levelboard/internal/usecase/snapshot"
)

// upsertGain writes the gain ?4 of day ?3 if the member ?2 is there.
const upsertGain = `
	INSERT INTO gains AS g (incarnation, user_id, day, gained)
	SELECT m.incarnation, m.user_id, ?3, ?4 FROM members m WHERE m.incarnation = ?1 AND m.user_id = ?2 AND NOT m.deleted`

// dropGains deletes the gains of the member ?2 if it has a tombstone.
const dropGains = `
	DELETE FROM gains WHERE incarnation = ?1 AND user_id = ?2
	AND EXISTS (SELECT 1 FROM members m WHERE m.incarnation = ?1 AND m.user_id = ?2 AND m.deleted)`

// replaceGains writes the gains of rows that were written just now, or by the same batch before.
func replaceGains(ctx context.Context, tx *sql.Tx, b snapshot.Batch) error {
	rev := cmp.Or(b.AsOf, b.Rev)
	for i := range b.Rows {
		r := &b.Rows[i]
		if !r.Deleted && !r.Fresh {
			continue
		}
		_, err := tx.ExecContext(ctx, `
			DELETE FROM gains WHERE incarnation = ?1 AND user_id = ?2
			AND EXISTS (SELECT 1 FROM members m
				WHERE m.incarnation = ?1 AND m.user_id = ?2 AND m.epoch = ?3 AND m.rev = ?4 AND m.deleted = ?5)`,
			int64(b.Guild.Incarnation), string(r.UserID), b.Epoch, rev, r.Deleted)
		if err != nil {
			return err
		}
	}
	return writeGains(ctx, tx, b, ` AND m.epoch = ?5 AND m.rev = ?6
		ON CONFLICT DO UPDATE SET gained = excluded.gained WHERE g.gained <> excluded.gained`, b.Epoch, rev)
}

// raiseGains writes those gains of merged rows that are higher than what is archived.
func raiseGains(ctx context.Context, tx *sql.Tx, b snapshot.Batch) error {
	return writeGains(ctx, tx, b, ` ON CONFLICT DO UPDATE SET gained = excluded.gained WHERE g.gained < excluded.gained`)
}

// writeGains writes gains one by one, by upsertGain with more of it and of its parameters.
func writeGains(ctx context.Context, tx *sql.Tx, b snapshot.Batch, conflict string, more ...any) (err error) {
	var statement *sql.Stmt
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.Deleted {
			continue
		}
		for _, g := range r.Gains {
			if statement == nil {
				if statement, err = tx.PrepareContext(ctx, upsertGain+conflict); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, statement.Close()) }()
			}
			_, err := statement.ExecContext(ctx, append([]any{int64(b.Guild.Incarnation), string(r.UserID), int64(g.Day), g.Gained}, more...)...)
			if err != nil {
				return refusal(err)
			}
		}
	}
	return nil
}
