package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/apikey"
	"levelboard/internal/changes"
	"levelboard/internal/guild"
	"levelboard/internal/id"
)

const selectKey = `
	SELECT id, hash, name, owner_id, permission, created_ms, expires_ms, rate_limit,
	       ARRAY(SELECT guild_id FROM key_grants WHERE key_id = id ORDER BY guild_id)
	FROM api_keys`

// Key reads a key; apikey.ErrNotFound when there is none.
func (a *Archive) Key(ctx context.Context, keyID string) (*apikey.Key, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	k, err := scanKey(a.pool.QueryRow(ctx, selectKey+` WHERE id = $1`, keyID))
	return k, wrap("read a key", err)
}

// Keys lists keys in ascending order of their ids, after the id after ("" from the start), at most limit.
func (a *Archive) Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := a.pool.Query(ctx, selectKey+` WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
	if err != nil {
		return nil, wrap("list keys", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*apikey.Key, error) { return scanKey(row) })
	return found, wrap("list keys", err)
}

func scanKey(row pgx.Row) (*apikey.Key, error) {
	var k apikey.Key
	var hash []byte
	var created int64
	var expires *int64
	err := row.Scan(&k.ID, &hash, &k.Name, &k.OwnerID, &k.Permission, &created, &expires, &k.RateLimit, &k.GuildIDs)
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
		at := time.UnixMilli(*expires).UTC()
		k.ExpiresAt = &at
	}
	return &k, nil
}

// CreateKey stores a key with its grants; times are kept to the millisecond. guild.ErrNotFound, with nothing changed,
// when a granted guild does not exist.
func (a *Archive) CreateKey(ctx context.Context, k apikey.Key) error {
	guilds := make([]string, len(k.GuildIDs))
	for i, g := range k.GuildIDs {
		guilds[i] = string(g)
	}
	slices.Sort(guilds)
	guilds = slices.Compact(guilds)
	var expires *int64
	if k.ExpiresAt != nil {
		expires = new(k.ExpiresAt.UnixMilli())
	}
	return a.inChange(ctx, "create a key", func(ctx context.Context, c *change) error {
		_, err := c.Exec(ctx, `
			INSERT INTO api_keys (id, hash, name, owner_id, permission, created_ms, expires_ms, rate_limit)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			k.ID, k.Hash[:], k.Name, string(k.OwnerID), string(k.Permission), k.CreatedAt.UnixMilli(), expires, k.RateLimit)
		if err != nil {
			return err
		}
		granted, err := c.Exec(ctx,
			`INSERT INTO key_grants (key_id, guild_id) SELECT $1, id FROM guilds WHERE id = ANY($2)`, k.ID, guilds)
		if err != nil {
			return err
		}
		if granted.RowsAffected() < int64(len(guilds)) {
			return guild.ErrNotFound
		}
		_, err = c.log(ctx, changes.Key, k.ID)
		return err
	})
}

// Grant gives the key access to the guild, also when it has it. apikey.ErrNotFound or guild.ErrNotFound.
func (a *Archive) Grant(ctx context.Context, keyID string, g id.Guild) error {
	return a.inChange(ctx, "grant a guild", func(ctx context.Context, c *change) error {
		if err := c.keyExists(ctx, keyID); err != nil {
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
		return c.changeGrant(ctx,
			`INSERT INTO key_grants (key_id, guild_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, keyID, g)
	})
}

// Ungrant takes the key's access to the guild away, also when it has none. apikey.ErrNotFound.
func (a *Archive) Ungrant(ctx context.Context, keyID string, g id.Guild) error {
	return a.inChange(ctx, "take a grant away", func(ctx context.Context, c *change) error {
		if err := c.keyExists(ctx, keyID); err != nil {
			return err
		}
		return c.changeGrant(ctx, `DELETE FROM key_grants WHERE key_id = $1 AND guild_id = $2`, keyID, g)
	})
}

// RevokeKey removes the key and its grants. apikey.ErrNotFound.
func (a *Archive) RevokeKey(ctx context.Context, keyID string) error {
	return a.inChange(ctx, "revoke a key", func(ctx context.Context, c *change) error {
		revoked, err := c.Exec(ctx, `DELETE FROM api_keys WHERE id = $1`, keyID)
		if err != nil {
			return err
		}
		if revoked.RowsAffected() == 0 {
			return apikey.ErrNotFound
		}
		_, err = c.log(ctx, changes.Key, keyID)
		return err
	})
}

// keyExists needs no lock on the key's row: only a change can remove it, and this is the only one under way.
func (c *change) keyExists(ctx context.Context, keyID string) error {
	var exists bool
	if err := c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM api_keys WHERE id = $1)`, keyID).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		return apikey.ErrNotFound
	}
	return nil
}

// changeGrant runs a statement on one grant and logs it only when it changed something.
func (c *change) changeGrant(ctx context.Context, statement, keyID string, g id.Guild) error {
	done, err := c.Exec(ctx, statement, keyID, string(g))
	if err != nil || done.RowsAffected() == 0 {
		return err
	}
	_, err = c.log(ctx, changes.Key, keyID)
	return err
}
