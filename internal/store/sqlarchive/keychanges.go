package sqlarchive

import (
	"context"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
)

// Grant implements keys.Archive.
func (c *Catalog) Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return c.changeKey(ctx, "grant", keyID, by, func(t *tx) {
		t.require(guild.ErrNotFound, `SELECT EXISTS (SELECT 1 FROM guilds WHERE id = $1)`, string(g))
		t.changeGrant(keyID, apikey.Record{By: by, Action: apikey.Granted, GuildIDs: []id.Guild{g}}, `
			INSERT INTO key_grants AS k (key_id, guild_id, granted_by) VALUES ($1, $2, $3)
			ON CONFLICT (key_id, guild_id) DO UPDATE SET granted_by = excluded.granted_by
			WHERE k.granted_by <> excluded.granted_by AND excluded.granted_by = 'operator'`,
			keyID, string(g), string(by))
	})
}

// Ungrant implements keys.Archive.
func (c *Catalog) Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return c.changeKey(ctx, "ungrant", keyID, by, func(t *tx) {
		t.changeGrant(keyID, apikey.Record{By: by, Action: apikey.Ungranted, GuildIDs: []id.Guild{g}},
			`DELETE FROM key_grants WHERE key_id = $1 AND guild_id = $2`, keyID, string(g))
	})
}

// RevokeKey implements keys.Archive.
func (c *Catalog) RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error {
	return c.changeKey(ctx, "revoke_key", keyID, by, func(t *tx) { t.revoke(keyID, by) })
}

func (t *tx) revoke(keyID string, by apikey.Actor) {
	t.changed(keyID, apikey.Record{By: by, Action: apikey.Deleted})
	t.auditedGrants(audit.Ungranted, keyID, readAll(t, scanValue[id.Guild], `SELECT guild_id FROM key_grants WHERE key_id = $1`, keyID))
	t.exec(`DELETE FROM api_keys WHERE id = $1`, keyID)
}

// RenameKey implements keys.Archive.
func (c *Catalog) RenameKey(ctx context.Context, keyID, name string, by apikey.Actor) error {
	return c.changeKey(ctx, "rename_key", keyID, by, func(t *tx) {
		former, _ := readValue[string](t, `SELECT name FROM api_keys WHERE id = $1`, keyID)
		if former != name {
			t.exec(`UPDATE api_keys SET name = $2 WHERE id = $1`, keyID, name)
			t.changed(keyID, apikey.Record{By: by, Action: apikey.Renamed, FormerName: former})
		}
	})
}

// changeKey runs f in a change of a key. It returns apikey.ErrNotFound also for a key that the actor may not change. The key's row
// needs no lock: only a change can remove it, and this is the only one under way.
func (c *Catalog) changeKey(ctx context.Context, operation, keyID string, by apikey.Actor, f func(*tx)) error {
	return c.inChange(ctx, operation, func(t *tx) {
		t.require(apikey.ErrNotFound, `SELECT EXISTS (SELECT 1 FROM api_keys WHERE id = $1 AND ($2 = '' OR owner_id = $2))`, keyID, string(by.Owner()))
		f(t)
	})
}

// changeGrant runs a statement on one grant, and records and logs it only when it changed something.
func (t *tx) changeGrant(keyID string, r apikey.Record, statement string, args ...any) {
	if t.exec(statement, args...) > 0 {
		t.changed(keyID, r)
		t.auditedGrants(grantActions[r.Action], keyID, r.GuildIDs)
	}
}

// grantActions are how changes of grants are called in the audit log.
var grantActions = map[apikey.Action]audit.Action{apikey.Granted: audit.Granted, apikey.Ungranted: audit.Ungranted}

// changed records and logs a change of a key that exists.
func (t *tx) changed(keyID string, r apikey.Record) {
	t.record(r, keyID)
	t.log(changes.Key, keyID)
}

// RotateKey implements keys.Archive.
func (c *Catalog) RotateKey(ctx context.Context, keyID string, r apikey.Rotation, by apikey.Actor) error {
	return c.changeKey(ctx, "rotate_key", keyID, by, func(t *tx) {
		k, _ := readRow(t, scanKey, `SELECT `+keyColumns+` FROM api_keys WHERE id = $1`, keyID)
		if t.err != nil || k.Hash == r.Hash {
			return
		}
		if k.ExpiresAt != nil && !r.Now.Before(*k.ExpiresAt) {
			t.fail(apikey.ErrExpired)
		}
		record := apikey.Record{By: by, Action: apikey.Rotated}
		if r.Overlap > 0 {
			record.OldUntil = new(r.Now.Add(r.Overlap).UTC().Truncate(time.Millisecond))
		}
		t.keepOldSecrets(keyID, r, record.OldUntil)
		t.exec(`UPDATE api_keys SET hash = $2 WHERE id = $1`, keyID, r.Hash[:])
		t.changed(keyID, record)
	})
}

// keepOldSecrets keeps the secret that is replaced, and those before it, until then at most; nil drops them.
func (t *tx) keepOldSecrets(keyID string, r apikey.Rotation, until *time.Time) {
	if until == nil {
		t.exec(`DELETE FROM key_old_secrets WHERE key_id = $1`, keyID)
		return
	}
	t.exec(`UPDATE key_old_secrets SET until_ms = $2 WHERE key_id = $1 AND until_ms > $2`, keyID, until.UnixMilli())
	t.exec(`
		INSERT INTO key_old_secrets (key_id, hash, until_ms) SELECT id, hash, $2 FROM api_keys WHERE id = $1
		ON CONFLICT (key_id, hash) DO UPDATE SET until_ms = excluded.until_ms`, keyID, until.UnixMilli())
	// The one that was just replaced is never among those that the limit drops.
	t.exec(`
		DELETE FROM key_old_secrets WHERE key_id = $1 AND hash NOT IN (
			SELECT o.hash FROM key_old_secrets o JOIN api_keys k ON k.id = o.key_id
			WHERE o.key_id = $1 AND o.until_ms > $2 ORDER BY o.hash = k.hash DESC, o.until_ms DESC, o.hash LIMIT $3)`,
		keyID, r.Now.UnixMilli(), apikey.MaxOldSecrets)
}

// record writes down what was done to keys that exist, with the names and owners that they have now, and drops from their
// owners' histories what is too much or too old. Of r it takes who, what and the details.
func (t *tx) record(r apikey.Record, keys ...string) {
	if len(keys) == 0 {
		return
	}
	t.exec(`
		INSERT INTO key_records (owner_id, at_ms, made_by, action, key_id, key_name, guild_ids, former_name, until_ms)
		SELECT owner_id, now_ms(), $2, $3, id, name, $4, $5, $6 FROM api_keys WHERE id IN (SELECT value ->> 0 FROM jsonb_each($1)) ORDER BY id`,
		jsonList(keys), string(r.By), string(r.Action), spaced(r.GuildIDs), r.FormerName, optionalMillis(r.OldUntil))
	t.exec(`
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
}

// KeyHistory implements keys.Archive.
func (c *Catalog) KeyHistory(ctx context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error) {
	return list(ctx, c, "read_key_history", scanRecord, `
		SELECT number, at_ms, made_by, action, key_id, key_name, guild_ids, former_name, until_ms FROM key_records
		WHERE owner_id = $1 AND ($2 = 0 OR number < $2) ORDER BY number + 0 DESC LIMIT $3`, string(owner), before, limit)
}

func scanRecord(row Row) (r apikey.Record, err error) {
	var guilds string
	err = row.Scan(&r.Number, millis{&r.At}, &r.By, &r.Action, &r.KeyID, &r.KeyName, &guilds, &r.FormerName, optional{&r.OldUntil})
	if guilds != "" {
		r.GuildIDs = idsIn[id.Guild](guilds)
	}
	return r, err
}
