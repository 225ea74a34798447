package sqlite

import (
	"context"
	"database/sql"

	"levelboard/internal/domain/apikey"
)

// AddUse implements apikey.UseStore.
func (a *Archive) AddUse(ctx context.Context, f apikey.UseFlush) error {
	return a.inTx(ctx, "add the use of keys", func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `
			INSERT INTO key_use_flushes AS f (replica, number, at_ms) VALUES (?, ?, ?)
			ON CONFLICT (replica) DO UPDATE SET number = excluded.number, at_ms = excluded.at_ms WHERE f.number < excluded.number`,
			f.Replica, f.Number, nowMS())
		if err != nil {
			return err
		}
		if fresh, err := done.RowsAffected(); err != nil || fresh == 0 {
			return err
		}
		for _, u := range f.Uses {
			_, err := tx.ExecContext(ctx, `UPDATE api_keys SET last_used_ms = max(COALESCE(last_used_ms, ?2), ?2) WHERE id = ?1`,
				u.KeyID, u.LastUsed.UnixMilli())
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `
				INSERT INTO key_use AS w (key_id, hour, requests) SELECT id, ?2, ?3 FROM api_keys WHERE id = ?1
				ON CONFLICT (key_id, hour) DO UPDATE SET requests = w.requests + excluded.requests`, u.KeyID, f.Hour, u.Requests)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
