package sqlite

import (
	"context"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

// Grant implements admin.Archive.
func (a *Archive) Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return a.inChange(ctx, "grant a guild", func(c *change) error {
		if err := c.keyExists(ctx, keyID, by); err != nil {
			return err
		}
		changed, err := c.grant(ctx, keyID, g, by)
		if err != nil || !changed {
			return err
		}
		return c.changed(ctx, keyID, apikey.Record{By: by, Action: apikey.Granted, GuildIDs: []id.Guild{g}})
	})
}

// Ungrant implements admin.Archive.
func (a *Archive) Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return a.inChange(ctx, "take a grant away", func(c *change) error {
		if err := c.keyExists(ctx, keyID, by); err != nil {
			return err
		}
		changed, err := c.exec(ctx, `DELETE FROM key_grants WHERE key_id = ? AND guild_id = ?`, keyID, string(g))
		if err != nil || !changed {
			return err
		}
		return c.changed(ctx, keyID, apikey.Record{By: by, Action: apikey.Ungranted, GuildIDs: []id.Guild{g}})
	})
}

// RevokeKey implements admin.Archive.
func (a *Archive) RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error {
	return a.inChange(ctx, "revoke a key", func(c *change) error {
		if err := c.keyExists(ctx, keyID, by); err != nil {
			return err
		}
		if err := c.changed(ctx, keyID, apikey.Record{By: by, Action: apikey.Deleted}); err != nil {
			return err
		}
		_, err := c.ExecContext(ctx, `DELETE FROM api_keys WHERE id = ?`, keyID)
		return err
	})
}

// RenameKey implements profile.Archive.
func (a *Archive) RenameKey(ctx context.Context, keyID, name string, by apikey.Actor) error {
	return a.inChange(ctx, "rename a key", func(c *change) error {
		if err := c.keyExists(ctx, keyID, by); err != nil {
			return err
		}
		var former string
		err := c.QueryRowContext(ctx, `SELECT name FROM api_keys WHERE id = ?`, keyID).Scan(&former)
		if err != nil || former == name {
			return err
		}
		if _, err := c.ExecContext(ctx, `UPDATE api_keys SET name = ? WHERE id = ?`, name, keyID); err != nil {
			return err
		}
		return c.changed(ctx, keyID, apikey.Record{By: by, Action: apikey.Renamed, FormerName: former})
	})
}

// keyExists returns apikey.ErrNotFound also for a key that the actor may not change.
func (c *change) keyExists(ctx context.Context, keyID string, by apikey.Actor) error {
	return c.exists(ctx, `SELECT EXISTS (SELECT 1 FROM api_keys WHERE id = ?1 AND (?2 = '' OR owner_id = ?2))`,
		apikey.ErrNotFound, keyID, string(by.Owner()))
}

// grant adds a grant if it is not there, or makes it the operator's; guild.ErrNotFound.
func (c *change) grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) (changed bool, err error) {
	if err := c.exists(ctx, guildExists, guild.ErrNotFound, string(g)); err != nil {
		return false, err
	}
	return c.exec(ctx, `
		INSERT INTO key_grants AS k (key_id, guild_id, granted_by) VALUES (?, ?, ?)
		ON CONFLICT (key_id, guild_id) DO UPDATE SET granted_by = excluded.granted_by
		WHERE k.granted_by <> excluded.granted_by AND excluded.granted_by = 'operator'`, keyID, string(g), string(by))
}

// changed records and logs a change of a key that exists.
func (c *change) changed(ctx context.Context, keyID string, r apikey.Record) error {
	if err := c.record(ctx, r, keyID); err != nil {
		return err
	}
	_, err := c.log(ctx, changes.Key, keyID)
	return err
}

// exec runs a statement and reports whether it changed a row.
func (c *change) exec(ctx context.Context, statement string, args ...any) (changed bool, err error) {
	done, err := c.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// exists returns missing when the query says no.
func (c *change) exists(ctx context.Context, query string, missing error, args ...any) error {
	var exists bool
	if err := c.QueryRowContext(ctx, query, args...).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		return missing
	}
	return nil
}
