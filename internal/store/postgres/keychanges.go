package postgres

import (
	"context"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

// Grant implements admin.Archive.
func (a *Archive) Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return a.inChange(ctx, "grant", func(ctx context.Context, c *change) error {
		if err := c.keyExists(ctx, keyID, by); err != nil {
			return err
		}
		var exists bool
		err := c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM guilds WHERE id = $1)`, string(g)).Scan(&exists)
		if err != nil {
			return err
		}
		if !exists {
			return guild.ErrNotFound
		}
		return c.changeGrant(ctx, keyID, apikey.Record{By: by, Action: apikey.Granted, GuildIDs: []id.Guild{g}}, `
			INSERT INTO key_grants AS k (key_id, guild_id, granted_by) VALUES ($1, $2, $3)
			ON CONFLICT (key_id, guild_id) DO UPDATE SET granted_by = excluded.granted_by
			WHERE k.granted_by <> excluded.granted_by AND excluded.granted_by = 'operator'`,
			keyID, string(g), string(by))
	})
}

// Ungrant implements admin.Archive.
func (a *Archive) Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return a.inChange(ctx, "ungrant", func(ctx context.Context, c *change) error {
		if err := c.keyExists(ctx, keyID, by); err != nil {
			return err
		}
		return c.changeGrant(ctx, keyID, apikey.Record{By: by, Action: apikey.Ungranted, GuildIDs: []id.Guild{g}},
			`DELETE FROM key_grants WHERE key_id = $1 AND guild_id = $2`, keyID, string(g))
	})
}

// RevokeKey implements admin.Archive.
func (a *Archive) RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error {
	return a.inChange(ctx, "revoke_key", func(ctx context.Context, c *change) error {
		if err := c.keyExists(ctx, keyID, by); err != nil {
			return err
		}
		if err := c.changed(ctx, keyID, apikey.Record{By: by, Action: apikey.Deleted}); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `DELETE FROM api_keys WHERE id = $1`, keyID)
		return err
	})
}

// RenameKey implements profile.Archive.
func (a *Archive) RenameKey(ctx context.Context, keyID, name string, by apikey.Actor) error {
	return a.inChange(ctx, "rename_key", func(ctx context.Context, c *change) error {
		if err := c.keyExists(ctx, keyID, by); err != nil {
			return err
		}
		var former string
		err := c.QueryRow(ctx, `SELECT name FROM api_keys WHERE id = $1`, keyID).Scan(&former)
		if err != nil || former == name {
			return err
		}
		if _, err := c.Exec(ctx, `UPDATE api_keys SET name = $2 WHERE id = $1`, keyID, name); err != nil {
			return err
		}
		return c.changed(ctx, keyID, apikey.Record{By: by, Action: apikey.Renamed, FormerName: former})
	})
}

// keyExists returns apikey.ErrNotFound also for a key that the actor may not change. It needs no lock on the key's row:
// only a change can remove it, and this is the only one under way.
func (c *change) keyExists(ctx context.Context, keyID string, by apikey.Actor) error {
	var exists bool
	err := c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM api_keys WHERE id = $1 AND ($2 = '' OR owner_id = $2))`,
		keyID, string(by.Owner())).Scan(&exists)
	if err == nil && !exists {
		err = apikey.ErrNotFound
	}
	return err
}

// changeGrant runs a statement on one grant, and records and logs it only when it changed something.
func (c *change) changeGrant(ctx context.Context, keyID string, r apikey.Record, statement string, args ...any) error {
	done, err := c.Exec(ctx, statement, args...)
	if err != nil || done.RowsAffected() == 0 {
		return err
	}
	return c.changed(ctx, keyID, r)
}

// changed records and logs a change of a key that exists.
func (c *change) changed(ctx context.Context, keyID string, r apikey.Record) error {
	if err := c.record(ctx, r, keyID); err != nil {
		return err
	}
	_, err := c.log(ctx, changes.Key, keyID)
	return err
}
