package sqlarchive

import (
	"context"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
)

// Grant implements keys.Archive.
func (c *Catalog) Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return c.changeKey(ctx, "grant", keyID, by, func(ctx context.Context, c *change) error {
		err := c.exists(ctx, `SELECT EXISTS (SELECT 1 FROM guilds WHERE id = $1)`, guild.ErrNotFound, string(g))
		if err != nil {
			return err
		}
		return c.changeGrant(ctx, keyID, apikey.Record{By: by, Action: apikey.Granted, GuildIDs: []id.Guild{g}}, `
			INSERT INTO key_grants AS k (key_id, guild_id, granted_by) VALUES ($1, $2, $3)
			ON CONFLICT (key_id, guild_id) DO UPDATE SET granted_by = excluded.granted_by
			WHERE k.granted_by <> excluded.granted_by AND excluded.granted_by = 'operator'`,
			keyID, string(g), string(by))
	})
}

// Ungrant implements keys.Archive.
func (c *Catalog) Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return c.changeKey(ctx, "ungrant", keyID, by, func(ctx context.Context, c *change) error {
		return c.changeGrant(ctx, keyID, apikey.Record{By: by, Action: apikey.Ungranted, GuildIDs: []id.Guild{g}},
			`DELETE FROM key_grants WHERE key_id = $1 AND guild_id = $2`, keyID, string(g))
	})
}

// RevokeKey implements keys.Archive.
func (c *Catalog) RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error {
	return c.changeKey(ctx, "revoke_key", keyID, by, func(ctx context.Context, c *change) error { return c.revoke(ctx, keyID, by) })
}

func (c *change) revoke(ctx context.Context, keyID string, by apikey.Actor) error {
	if err := c.changed(ctx, keyID, apikey.Record{By: by, Action: apikey.Deleted}); err != nil {
		return err
	}
	rows, err := c.QueryContext(ctx, `SELECT guild_id FROM key_grants WHERE key_id = $1`, keyID)
	guilds, err := Collect(rows, err, scanValue[id.Guild])
	if err == nil {
		err = c.auditedGrants(ctx, audit.Ungranted, keyID, guilds)
	}
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `DELETE FROM api_keys WHERE id = $1`, keyID)
	return err
}

// RenameKey implements keys.Archive.
func (c *Catalog) RenameKey(ctx context.Context, keyID, name string, by apikey.Actor) error {
	return c.changeKey(ctx, "rename_key", keyID, by, func(ctx context.Context, c *change) error {
		former, err := scanValue[string](c.QueryRowContext(ctx, `SELECT name FROM api_keys WHERE id = $1`, keyID))
		if err != nil || former == name {
			return err
		}
		if _, err := c.ExecContext(ctx, `UPDATE api_keys SET name = $2 WHERE id = $1`, keyID, name); err != nil {
			return err
		}
		return c.changed(ctx, keyID, apikey.Record{By: by, Action: apikey.Renamed, FormerName: former})
	})
}

// changeKey runs f in a change of a key. It returns apikey.ErrNotFound also for a key that the actor may not change. The key's row
// needs no lock: only a change can remove it, and this is the only one under way.
func (c *Catalog) changeKey(ctx context.Context, operation, keyID string, by apikey.Actor, f func(ctx context.Context, c *change) error) error {
	return c.inChange(ctx, operation, func(ctx context.Context, c *change) error {
		err := c.exists(ctx, `SELECT EXISTS (SELECT 1 FROM api_keys WHERE id = $1 AND ($2 = '' OR owner_id = $2))`,
			apikey.ErrNotFound, keyID, string(by.Owner()))
		if err != nil {
			return err
		}
		return f(ctx, c)
	})
}

// changeGrant runs a statement on one grant, and records and logs it only when it changed something.
func (c *change) changeGrant(ctx context.Context, keyID string, r apikey.Record, statement string, args ...any) error {
	n, err := c.exec(ctx, statement, args...)
	if err != nil || n == 0 {
		return err
	}
	if err := c.changed(ctx, keyID, r); err != nil {
		return err
	}
	return c.auditedGrants(ctx, grantActions[r.Action], keyID, r.GuildIDs)
}

// grantActions are how changes of grants are called in the audit log.
var grantActions = map[apikey.Action]audit.Action{apikey.Granted: audit.Granted, apikey.Ungranted: audit.Ungranted}

// changed records and logs a change of a key that exists.
func (c *change) changed(ctx context.Context, keyID string, r apikey.Record) error {
	if err := c.record(ctx, r, keyID); err != nil {
		return err
	}
	_, err := c.log(ctx, changes.Key, keyID)
	return err
}
