package sqlarchive

import (
	"context"
	"database/sql"

	"levelboard/internal/domain/apikey"
)

// AddUse implements apikey.UseStore.
func (c *Catalog) AddUse(ctx context.Context, hour int64, uses []apikey.KeyUse) error {
	rows := make([][]any, len(uses))
	for i, u := range uses {
		rows[i] = []any{u.KeyID, u.Requests, u.LastUsed.UnixMilli()}
	}
	used := jsonRows(rows)
	return c.inTx(ctx, "add_key_use", func(ctx context.Context, tx *sql.Tx) error {
		// In one order among replicas, and before anything else, so that none waits for another in a circle and no key is
		// deleted in between.
		_, err := tx.ExecContext(ctx, c.sql(`
			SELECT id FROM api_keys WHERE id IN (SELECT value ->> 0 FROM jsonb_each($1)) ORDER BY id FOR NO KEY UPDATE`), used)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE api_keys SET last_used_ms = u.last
			FROM (SELECT value ->> 0 AS id, CAST(value ->> 2 AS bigint) AS last FROM jsonb_each($1)) AS u
			WHERE api_keys.id = u.id AND coalesce(last_used_ms, 0) < u.last`, used)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO key_use AS w (key_id, hour, requests)
			SELECT k.id, $2, CAST(u.value ->> 1 AS bigint) FROM jsonb_each($1) AS u JOIN api_keys AS k ON k.id = u.value ->> 0 WHERE true
			ON CONFLICT (key_id, hour) DO UPDATE SET requests = w.requests + excluded.requests`, used, hour)
		return err
	})
}
