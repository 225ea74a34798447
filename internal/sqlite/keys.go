package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"levelboard/internal/apikey"
	"levelboard/internal/changes"
	"levelboard/internal/guild"
	"levelboard/internal/id"
)

// selectKey joins the grants with spaces; ids are digits.
const selectKey = `
	SELECT id, hash, name, owner_id, permission, created_ms, expires_ms, rate_limit,
	       (SELECT group_concat(guild_id, ' ') FROM key_grants WHERE key_id = id)
	FROM api_keys`

const (
	keyExists   = `SELECT EXISTS (SELECT 1 FROM api_keys WHERE id = ?)`
	guildExists = `SELECT EXISTS (SELECT 1 FROM guilds WHERE id = ?)`
)

// Key reads a key; apikey.ErrNotFound when there is none.
func (a *Archive) Key(ctx context.Context, keyID string) (*apikey.Key, error) {
	k, err := scanKey(a.reader.QueryRowContext(ctx, selectKey+` WHERE id = ?`, keyID))
	return k, wrap("read a key", err)
}

// Keys lists keys in ascending order of their ids, after the id after ("" from the start), at most limit.
func (a *Archive) Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	rows, err := a.reader.QueryContext(ctx, selectKey+` WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
	if err != nil {
		return nil, wrap("list keys", err)
	}
	found, err := collect(rows, scanKey)
	return found, wrap("list keys", err)
}

func scanKey(row scanner) (*apikey.Key, error) {
	var k apikey.Key
	var hash []byte
	var created int64
	var expires, limit sql.NullInt64
	var grants sql.NullString
	err := row.Scan(&k.ID, &hash, &k.Name, &k.OwnerID, &k.Permission, &created, &expires, &limit, &grants)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, apikey.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if copy(k.Hash[:], hash) != len(k.Hash) {
		return nil, fmt.Errorf("key %s has a hash of %d bytes", k.ID, len(hash))
	}
	k.CreatedAt = time.UnixMilli(created).UTC()
	if expires.Valid {
		k.ExpiresAt = new(time.UnixMilli(expires.Int64).UTC())
	}
	if limit.Valid {
		k.RateLimit = new(int(limit.Int64))
	}
	k.GuildIDs = []id.Guild{}
	for _, g := range strings.Fields(grants.String) {
		k.GuildIDs = append(k.GuildIDs, id.Guild(g))
	}
	slices.Sort(k.GuildIDs)
	return &k, nil
}

// CreateKey stores a key with its grants; times are kept to the millisecond. guild.ErrNotFound, with nothing changed,
// when a granted guild does not exist.
func (a *Archive) CreateKey(ctx context.Context, k apikey.Key) error {
	return a.inChange(ctx, "create a key", func(c *change) error {
		var expires any
		if k.ExpiresAt != nil {
			expires = k.ExpiresAt.UnixMilli()
		}
		_, err := c.ExecContext(ctx, `
			INSERT INTO api_keys (id, hash, name, owner_id, permission, created_ms, expires_ms, rate_limit)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			k.ID, k.Hash[:], k.Name, string(k.OwnerID), string(k.Permission), k.CreatedAt.UnixMilli(), expires, k.RateLimit)
		if err != nil {
			return err
		}
		for _, g := range k.GuildIDs {
			if err := c.grant(ctx, k.ID, g); err != nil {
				return err
			}
		}
		_, err = c.log(ctx, changes.Key, k.ID)
		return err
	})
}

// Grant gives the key access to the guild, also when it has it. apikey.ErrNotFound or guild.ErrNotFound.
func (a *Archive) Grant(ctx context.Context, keyID string, g id.Guild) error {
	return a.inChange(ctx, "grant a guild", func(c *change) error {
		if err := c.exists(ctx, keyExists, keyID, apikey.ErrNotFound); err != nil {
			return err
		}
		had, err := c.grants(ctx, keyID, g)
		if err != nil || had {
			return err
		}
		if err := c.grant(ctx, keyID, g); err != nil {
			return err
		}
		_, err = c.log(ctx, changes.Key, keyID)
		return err
	})
}

// Ungrant takes the key's access to the guild away, also when it has none. apikey.ErrNotFound.
func (a *Archive) Ungrant(ctx context.Context, keyID string, g id.Guild) error {
	return a.inChange(ctx, "take a grant away", func(c *change) error {
		if err := c.exists(ctx, keyExists, keyID, apikey.ErrNotFound); err != nil {
			return err
		}
		had, err := c.grants(ctx, keyID, g)
		if err != nil || !had {
			return err
		}
		_, err = c.ExecContext(ctx, `DELETE FROM key_grants WHERE key_id = ? AND guild_id = ?`, keyID, string(g))
		if err != nil {
			return err
		}
		_, err = c.log(ctx, changes.Key, keyID)
		return err
	})
}

// RevokeKey removes the key and its grants. apikey.ErrNotFound.
func (a *Archive) RevokeKey(ctx context.Context, keyID string) error {
	return a.inChange(ctx, "revoke a key", func(c *change) error {
		if err := c.exists(ctx, keyExists, keyID, apikey.ErrNotFound); err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, `DELETE FROM api_keys WHERE id = ?`, keyID); err != nil {
			return err
		}
		_, err := c.log(ctx, changes.Key, keyID)
		return err
	})
}

// grant adds a grant if it is not there; guild.ErrNotFound.
func (c *change) grant(ctx context.Context, keyID string, g id.Guild) error {
	if err := c.exists(ctx, guildExists, string(g), guild.ErrNotFound); err != nil {
		return err
	}
	_, err := c.ExecContext(ctx,
		`INSERT INTO key_grants (key_id, guild_id) VALUES (?, ?) ON CONFLICT DO NOTHING`, keyID, string(g))
	return err
}

func (c *change) grants(ctx context.Context, keyID string, g id.Guild) (has bool, err error) {
	err = c.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT 1 FROM key_grants WHERE key_id = ? AND guild_id = ?)`, keyID, string(g)).Scan(&has)
	return has, err
}

// exists returns missing when the query says no.
func (c *change) exists(ctx context.Context, query, arg string, missing error) error {
	var exists bool
	if err := c.QueryRowContext(ctx, query, arg).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		return missing
	}
	return nil
}
