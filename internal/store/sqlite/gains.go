package sqlite

import (
	"cmp"
	"context"
	"database/sql"

	"github.com/go-json-experiment/json"

	"levelboard/internal/usecase/snapshot"
)

// upsertGains writes the gains in the JSON array ?2, each [user, day, gained], of members who are there.
const upsertGains = `
	INSERT INTO gains AS g (incarnation, user_id, day, gained)
	SELECT m.incarnation, m.user_id, r.value ->> 1, r.value ->> 2
	FROM json_each(?2) r CROSS JOIN members m ON m.incarnation = ?1 AND m.user_id = r.value ->> 0
	WHERE NOT m.deleted`

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
	return writeGains(ctx, tx, b, ` AND m.epoch = ?3 AND m.rev = ?4
		ON CONFLICT DO UPDATE SET gained = excluded.gained WHERE g.gained <> excluded.gained`, b.Epoch, rev)
}

// raiseGains writes those gains of merged rows that are higher than what is archived.
func raiseGains(ctx context.Context, tx *sql.Tx, b snapshot.Batch) error {
	return writeGains(ctx, tx, b, ` ON CONFLICT DO UPDATE SET gained = excluded.gained WHERE g.gained < excluded.gained`)
}

// writeGains writes all gains by upsertGains, with more of it and of its parameters.
func writeGains(ctx context.Context, tx *sql.Tx, b snapshot.Batch, conflict string, more ...any) error {
	var gains [][3]any
	for i := range b.Rows {
		if r := &b.Rows[i]; !r.Deleted {
			for _, g := range r.Gains {
				gains = append(gains, [3]any{r.UserID, g.Day, g.Gained})
			}
		}
	}
	if len(gains) == 0 {
		return nil
	}
	text, err := json.Marshal(gains)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, upsertGains+conflict, append([]any{int64(b.Guild.Incarnation), string(text)}, more...)...)
	return refusal(err)
}
