package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

// record writes down what was done to keys that exist, with the names and owners that they have now, and drops from their
// owners' histories what is too much or too old. Of r it takes who, what and the details.
func (c *change) record(ctx context.Context, r apikey.Record, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	guilds := make([]string, len(r.GuildIDs))
	for i, g := range r.GuildIDs {
		guilds[i] = string(g)
	}
	var until any
	if r.OldUntil != nil {
		until = r.OldUntil.UnixMilli()
	}
	_, err := c.ExecContext(ctx, `
		INSERT INTO key_records (owner_id, at_ms, made_by, action, key_id, key_name, guild_ids, former_name, until_ms)
		SELECT owner_id, ?, ?, ?, id, name, ?, ?, ? FROM api_keys WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
		nowMS(), string(r.By), string(r.Action), strings.Join(guilds, " "), r.FormerName, until, jsonList(keys))
	if err != nil {
		return fmt.Errorf("record a change of a key: %w", err)
	}
	_, err = c.ExecContext(ctx, `
		DELETE FROM key_records WHERE number IN (
			WITH owners AS (SELECT DISTINCT owner_id FROM api_keys WHERE id IN (SELECT value FROM json_each(?1)))
			SELECT r.number FROM (
				SELECT owner_id, (
					SELECT number FROM key_records AS kept WHERE kept.owner_id = owners.owner_id
					ORDER BY number DESC LIMIT 1 OFFSET ?2) AS bound
				FROM owners) AS b
			JOIN key_records AS r ON r.owner_id = b.owner_id AND r.number <= b.bound
			UNION ALL
			SELECT number FROM key_records WHERE at_ms <= ?3 AND owner_id IN (SELECT owner_id FROM owners))`,
		jsonList(keys), apikey.HistorySize, nowMS()-apikey.HistoryTime.Milliseconds())
	if err != nil {
		return fmt.Errorf("shorten the history of keys: %w", err)
	}
	return nil
}

// KeyHistory implements profile.Archive.
func (a *Archive) KeyHistory(ctx context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error) {
	rows, err := a.reader.QueryContext(ctx, `
		SELECT number, at_ms, made_by, action, key_id, key_name, guild_ids, former_name, until_ms FROM key_records
		WHERE owner_id = ?1 AND (?2 = 0 OR number < ?2) ORDER BY number DESC LIMIT ?3`, string(owner), before, limit)
	if err != nil {
		return nil, wrap("read the history of keys", err)
	}
	found, err := collect(rows, scanRecord)
	return found, wrap("read the history of keys", err)
}

func scanRecord(row scanner) (r apikey.Record, err error) {
	var at int64
	var until sql.NullInt64
	var guilds string
	err = row.Scan(&r.Number, &at, &r.By, &r.Action, &r.KeyID, &r.KeyName, &guilds, &r.FormerName, &until)
	r.At = time.UnixMilli(at).UTC()
	if guilds != "" {
		r.GuildIDs = guildsIn(guilds)
	}
	if until.Valid {
		r.OldUntil = new(fromMillis(until))
	}
	return r, err
}
