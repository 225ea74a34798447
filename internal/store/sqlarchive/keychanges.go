package sqlarchive

import (
	"bytes"
	"context"
	"fmt"
	"time"

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

// record writes down what was done to keys that exist, with the names and owners that they have now, and drops from their
// owners' histories what is too much or too old. Of r it takes who, what and the details.
func (c *change) record(ctx context.Context, r apikey.Record, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := c.ExecContext(ctx, `
		INSERT INTO key_records (owner_id, at_ms, made_by, action, key_id, key_name, guild_ids, former_name, until_ms)
		SELECT owner_id, now_ms(), $2, $3, id, name, $4, $5, $6 FROM api_keys WHERE id IN (SELECT value ->> 0 FROM jsonb_each($1)) ORDER BY id`,
		jsonList(keys), string(r.By), string(r.Action), spaced(r.GuildIDs), r.FormerName, optionalMillis(r.OldUntil))
	if err != nil {
		return fmt.Errorf("record a change of a key: %w", err)
	}
	_, err = c.ExecContext(ctx, `
		DELETE FROM key_records WHERE number IN (
			WITH owners AS (SELECT DISTINCT owner_id FROM api_keys WHERE id IN (SELECT value ->> 0 FROM jsonb_each($1)))
			SELECT r.number FROM (
				SELECT owner_id, (
					SELECT number FROM key_records AS kept WHERE kept.owner_id = owners.owner_id
					ORDER BY number + 0 DESC LIMIT 1 OFFSET $2) AS bound
				FROM owners) AS b
			JOIN key_records AS r ON r.owner_id = b.owner_id AND r.number <= b.bound
			UNION ALL
			SELECT number FROM key_records WHERE at_ms <= now_ms() - $3 AND owner_id IN (SELECT owner_id FROM owners))`,
		jsonList(keys), apikey.HistorySize, apikey.HistoryTime.Milliseconds())
	if err != nil {
		return fmt.Errorf("shorten the history of keys: %w", err)
	}
	return nil
}

// KeyHistory implements keys.Archive.
func (c *Catalog) KeyHistory(ctx context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error) {
	return list(ctx, c, "read_key_history", scanRecord, `
		SELECT number, at_ms, made_by, action, key_id, key_name, guild_ids, former_name, until_ms FROM key_records
		WHERE owner_id = $1 AND ($2 = 0 OR number < $2) ORDER BY number + 0 DESC LIMIT $3`, string(owner), before, limit)
}

func scanRecord(row Row) (r apikey.Record, err error) {
	var at int64
	var until *int64
	var guilds string
	err = row.Scan(&r.Number, &at, &r.By, &r.Action, &r.KeyID, &r.KeyName, &guilds, &r.FormerName, &until)
	r.At, r.OldUntil = time.UnixMilli(at).UTC(), optionalTime(until)
	if guilds != "" {
		r.GuildIDs = idsIn[id.Guild](guilds)
	}
	return r, err
}
