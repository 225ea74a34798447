package sqlarchive

import (
	"bytes"
	"context"
	"time"

	"levelboard/internal/domain/apikey"
)

// RotateKey implements keys.Archive.
func (c *Catalog) RotateKey(ctx context.Context, keyID string, r apikey.Rotation, by apikey.Actor) error {
	return c.changeKey(ctx, "rotate_key", keyID, by, func(ctx context.Context, c *change) error {
		var hash []byte
		var expires *int64
		err := c.QueryRowContext(ctx, `SELECT hash, expires_ms FROM api_keys WHERE id = $1`, keyID).Scan(&hash, &expires)
		if err != nil || bytes.Equal(hash, r.Hash[:]) {
			return err
		}
		if expires != nil && r.Now.UnixMilli() >= *expires {
			return apikey.ErrExpired
		}
		record := apikey.Record{By: by, Action: apikey.Rotated}
		if r.Overlap > 0 {
			record.OldUntil = new(r.Now.Add(r.Overlap).UTC().Truncate(time.Millisecond))
		}
		if err := c.keepOldSecrets(ctx, keyID, r, record.OldUntil); err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, `UPDATE api_keys SET hash = $2 WHERE id = $1`, keyID, r.Hash[:]); err != nil {
			return err
		}
		return c.changed(ctx, keyID, record)
	})
}

// keepOldSecrets keeps the secret that is replaced, and those before it, until then at most; nil drops them.
func (c *change) keepOldSecrets(ctx context.Context, keyID string, r apikey.Rotation, until *time.Time) error {
	if until == nil {
		_, err := c.ExecContext(ctx, `DELETE FROM key_old_secrets WHERE key_id = $1`, keyID)
		return err
	}
	_, err := c.ExecContext(ctx, `UPDATE key_old_secrets SET until_ms = $2 WHERE key_id = $1 AND until_ms > $2`, keyID, until.UnixMilli())
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `
		INSERT INTO key_old_secrets (key_id, hash, until_ms) SELECT id, hash, $2 FROM api_keys WHERE id = $1
		ON CONFLICT (key_id, hash) DO UPDATE SET until_ms = excluded.until_ms`, keyID, until.UnixMilli())
	if err != nil {
		return err
	}
	// The one that was just replaced is never among those that the limit drops.
	_, err = c.ExecContext(ctx, `
		DELETE FROM key_old_secrets WHERE key_id = $1 AND hash NOT IN (
			SELECT o.hash FROM key_old_secrets o JOIN api_keys k ON k.id = o.key_id
			WHERE o.key_id = $1 AND o.until_ms > $2 ORDER BY o.hash = k.hash DESC, o.until_ms DESC, o.hash LIMIT $3)`,
		keyID, r.Now.UnixMilli(), apikey.MaxOldSecrets)
	return err
}
