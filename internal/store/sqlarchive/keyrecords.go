package sqlarchive

import (
	"context"
	"fmt"
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
