package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

// record writes down what was done to keys that exist, with the names and owners that they have now, and drops from their
// owners' histories what is too much or too old. Of r it takes who, what and the details.
func (c *change) record(ctx context.Context, r apikey.Record, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	var until *int64
	if r.OldUntil != nil {
		until = new(r.OldUntil.UnixMilli())
	}
	_, err := c.Exec(ctx, `
		INSERT INTO key_records (owner_id, at_ms, made_by, action, key_id, key_name, guild_ids, former_name, until_ms)
		SELECT owner_id, `+nowMS+`, $2, $3, id, name, $4, $5, $6 FROM api_keys WHERE id = ANY($1) ORDER BY id`,
		keys, string(r.By), string(r.Action), strings.Join(texts(r.GuildIDs), " "), r.FormerName, until)
	if err != nil {
		return fmt.Errorf("record a change of a key: %w", err)
	}
	_, err = c.Exec(ctx, `
		DELETE FROM key_records WHERE number IN (
			SELECT number FROM (
				SELECT number, at_ms, row_number() OVER (PARTITION BY owner_id ORDER BY number DESC) AS place
				FROM key_records WHERE owner_id IN (SELECT owner_id FROM api_keys WHERE id = ANY($1))) AS r
			WHERE place > $2 OR at_ms <= `+nowMS+` - $3)`,
		keys, apikey.HistorySize, apikey.HistoryTime.Milliseconds())
	if err != nil {
		return fmt.Errorf("shorten the history of keys: %w", err)
	}
	return nil
}

// KeyHistory implements profile.Archive.
func (a *Archive) KeyHistory(ctx context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error) {
	ctx, cancel := bounded(ctx, "read_key_history")
	defer cancel()
	rows, err := a.pool.Query(ctx, `
		SELECT number, at_ms, made_by, action, key_id, key_name, guild_ids, former_name, until_ms FROM key_records
		WHERE owner_id = $1 AND ($2 = 0 OR number < $2) ORDER BY number DESC LIMIT $3`, string(owner), before, limit)
	if err != nil {
		return nil, wrap("read the history of keys", err)
	}
	found, err := pgx.CollectRows(rows, scanRecord)
	return found, wrap("read the history of keys", err)
}

func scanRecord(row pgx.CollectableRow) (r apikey.Record, err error) {
	var at int64
	var until *int64
	var guilds string
	err = row.Scan(&r.Number, &at, &r.By, &r.Action, &r.KeyID, &r.KeyName, &guilds, &r.FormerName, &until)
	r.At = time.UnixMilli(at).UTC()
	for _, g := range strings.Fields(guilds) {
		r.GuildIDs = append(r.GuildIDs, id.Guild(g))
	}
	if until != nil {
		r.OldUntil = new(fromMillis(until))
	}
	return r, err
}
