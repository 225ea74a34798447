package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/apikey"
)

// AddUse implements apikey.UseStore.
func (a *Archive) AddUse(ctx context.Context, f apikey.UseFlush) error {
	keys, requests, last := make([]string, len(f.Uses)), make([]int64, len(f.Uses)), make([]int64, len(f.Uses))
	for i, u := range f.Uses {
		keys[i], requests[i], last[i] = u.KeyID, u.Requests, u.LastUsed.UnixMilli()
	}
	return a.inTx(ctx, "add_key_use", func(ctx context.Context, tx pgx.Tx) error {
		fresh, err := tx.Exec(ctx, `
			INSERT INTO key_use_flushes AS f (replica, number, at_ms) VALUES ($1, $2, `+nowMS+`)
			ON CONFLICT (replica) DO UPDATE SET number = excluded.number, at_ms = excluded.at_ms WHERE f.number < excluded.number`,
			f.Replica, f.Number)
		if err != nil || fresh.RowsAffected() == 0 {
			return err
		}
		// In one order among replicas, and before anything else, so that none waits for another in a circle and no key is
		// deleted in between.
		_, err = tx.Exec(ctx, `SELECT id FROM api_keys WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`, keys)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE api_keys k SET last_used_ms = GREATEST(k.last_used_ms, u.last)
			FROM unnest($1::text[], $2::bigint[]) AS u (id, last) WHERE k.id = u.id`, keys, last)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO key_use AS w (key_id, hour, requests)
			SELECT k.id, $3, u.requests FROM unnest($1::text[], $2::bigint[]) AS u (id, requests) JOIN api_keys k ON k.id = u.id
			ON CONFLICT (key_id, hour) DO UPDATE SET requests = w.requests + excluded.requests`, keys, requests, f.Hour)
		return err
	})
}
