package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// byGuild puts grants in the order of their guilds. It is not just a column, so that no index has them in this order: when the server believes that
// there are no grants, to go through the index of all grants by guild looks as cheap to it as the few of one key.
const byGuild = `ORDER BY guild_id || ''`

const keyColumns = `
	id, hash, name, owner_id, permission, created_ms, expires_ms, rate_limit,
	ARRAY(SELECT guild_id FROM key_grants WHERE key_id = id ` + byGuild + `),
	ARRAY(SELECT hash FROM key_old_secrets o WHERE o.key_id = api_keys.id ORDER BY o.hash),
	ARRAY(SELECT until_ms FROM key_old_secrets o WHERE o.key_id = api_keys.id ORDER BY o.hash)`

// Key implements apikey.Source.
func (a *Archive) Key(ctx context.Context, keyID string) (*apikey.Key, error) {
	ctx, cancel := bounded(ctx, "read_key")
	defer cancel()
	k, err := scanKey(a.pool.QueryRow(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE id = $1`, plannedNow, keyID))
	return k, wrap("read a key", err)
}

// Keys implements admin.Archive.
func (a *Archive) Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	ctx, cancel := bounded(ctx, "list_keys")
	defer cancel()
	rows, err := a.pool.Query(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
	if err != nil {
		return nil, wrap("list keys", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*apikey.Key, error) { return scanKey(row) })
	return found, wrap("list keys", err)
}

// scanKey reads keyColumns, and what follows them into more.
func scanKey(row pgx.Row, more ...any) (*apikey.Key, error) {
	var k apikey.Key
	var hash []byte
	var created int64
	var expires *int64
	var oldHashes [][]byte
	var oldUntil []int64
	err := row.Scan(append([]any{
		&k.ID, &hash, &k.Name, &k.OwnerID, &k.Permission, &created, &expires, &k.RateLimit, &k.GuildIDs, &oldHashes, &oldUntil,
	}, more...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, apikey.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if copy(k.Hash[:], hash) != len(k.Hash) {
		return nil, fmt.Errorf("key %s has a hash of %d bytes", k.ID, len(hash))
	}
	k.CreatedAt = time.UnixMilli(created).UTC()
	if expires != nil {
		k.ExpiresAt = new(fromMillis(expires))
	}
	for i, old := range oldHashes {
		k.Old = append(k.Old, apikey.OldSecret{Hash: [32]byte(old), Until: time.UnixMilli(oldUntil[i]).UTC()})
	}
	return &k, nil
}

// CreateKey implements admin.Archive.
func (a *Archive) CreateKey(ctx context.Context, k apikey.Key, by apikey.Actor, atMost int) error {
	guilds := slices.Clone(k.GuildIDs)
	slices.Sort(guilds)
	guilds = slices.Compact(guilds)
	var expires *int64
	if k.ExpiresAt != nil {
		expires = new(k.ExpiresAt.UnixMilli())
	}
	return a.inChange(ctx, "create_key", func(ctx context.Context, c *change) error {
		// Nobody else makes a key in between, since there is one change at a time.
		if err := c.roomFor(ctx, k.OwnerID, atMost); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `
			INSERT INTO api_keys (id, hash, name, owner_id, permission, created_ms, expires_ms, rate_limit)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			k.ID, k.Hash[:], k.Name, string(k.OwnerID), string(k.Permission), k.CreatedAt.UnixMilli(), expires, k.RateLimit)
		if err != nil {
			return err
		}
		granted, err := c.Exec(ctx, `
			INSERT INTO key_grants (key_id, guild_id, granted_by) SELECT $1, id, $3 FROM guilds WHERE id = ANY($2)`,
			k.ID, texts(guilds), string(by))
		if err != nil {
			return err
		}
		if granted.RowsAffected() < int64(len(guilds)) {
			return guild.ErrNotFound
		}
		return c.changed(ctx, k.ID, apikey.Record{By: by, Action: apikey.Created, GuildIDs: guilds})
	})
}

func (c *change) roomFor(ctx context.Context, owner id.User, atMost int) error {
	if atMost == 0 {
		return nil
	}
	var has int
	err := c.QueryRow(ctx, `SELECT count(*) FROM api_keys WHERE owner_id = $1`, string(owner)).Scan(&has)
	if err == nil && has >= atMost {
		err = apikey.ErrTooMany
	}
	return err
}

// texts is never nil, which as an array would be NULL and equal to nothing.
func texts(guilds []id.Guild) []string {
	list := make([]string, len(guilds))
	for i, g := range guilds {
		list[i] = string(g)
	}
	return list
}
