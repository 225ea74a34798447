package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

// keyColumns join a key's grants, and its former secrets, with spaces; ids are digits.
const keyColumns = `
	id, hash, name, owner_id, permission, created_ms, expires_ms, rate_limit,
	(SELECT group_concat(guild_id, ' ' ORDER BY guild_id) FROM key_grants WHERE key_id = id),
	(SELECT group_concat(hex(o.hash) || ':' || o.until_ms, ' ' ORDER BY o.hash) FROM key_old_secrets o WHERE o.key_id = api_keys.id)`

const guildExists = `SELECT EXISTS (SELECT 1 FROM guilds WHERE id = ?)`

// Key implements apikey.Source.
func (a *Archive) Key(ctx context.Context, keyID string) (*apikey.Key, error) {
	k, err := scanKey(a.reader.QueryRowContext(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE id = ?`, keyID))
	return k, wrap("read a key", err)
}

// Keys implements admin.Archive.
func (a *Archive) Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	rows, err := a.reader.QueryContext(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
	if err != nil {
		return nil, wrap("list keys", err)
	}
	found, err := collect(rows, func(row scanner) (*apikey.Key, error) { return scanKey(row) })
	return found, wrap("list keys", err)
}

// scanKey reads keyColumns, and what follows them into more.
func scanKey(row scanner, more ...any) (*apikey.Key, error) {
	var k apikey.Key
	var hash []byte
	var created int64
	var expires, limit sql.NullInt64
	var grants, old sql.NullString
	err := row.Scan(append([]any{
		&k.ID, &hash, &k.Name, &k.OwnerID, &k.Permission, &created, &expires, &limit, &grants, &old,
	}, more...)...)
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
	k.GuildIDs = guildsIn(grants.String)
	k.Old, err = oldSecrets(old.String)
	return &k, err
}

// guildsIn reads ids with spaces in between.
func guildsIn(text string) []id.Guild {
	guilds := []id.Guild{}
	for _, g := range strings.Fields(text) {
		guilds = append(guilds, id.Guild(g))
	}
	return guilds
}

func oldSecrets(text string) (list []apikey.OldSecret, err error) {
	for _, one := range strings.Fields(text) {
		hash, until, _ := strings.Cut(one, ":")
		ms, err := strconv.ParseInt(until, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("a former secret: %w", err)
		}
		old := apikey.OldSecret{Until: time.UnixMilli(ms).UTC()}
		if n, err := hex.Decode(old.Hash[:], []byte(hash)); err != nil || n != len(old.Hash) {
			return nil, fmt.Errorf("a former secret has a hash of %d bytes: %w", n, err)
		}
		list = append(list, old)
	}
	return list, nil
}

// CreateKey implements admin.Archive.
func (a *Archive) CreateKey(ctx context.Context, k apikey.Key, by apikey.Actor, atMost int) error {
	guilds := slices.Clone(k.GuildIDs)
	slices.Sort(guilds)
	guilds = slices.Compact(guilds)
	return a.inChange(ctx, "create a key", func(c *change) error {
		if err := c.roomFor(ctx, k.OwnerID, atMost); err != nil {
			return err
		}
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
		for _, g := range guilds {
			if _, err := c.grant(ctx, k.ID, g, by); err != nil {
				return err
			}
		}
		return c.changed(ctx, k.ID, apikey.Record{By: by, Action: apikey.Created, GuildIDs: guilds})
	})
}

func (c *change) roomFor(ctx context.Context, owner id.User, atMost int) error {
	if atMost == 0 {
		return nil
	}
	var has int
	err := c.QueryRowContext(ctx, `SELECT count(*) FROM api_keys WHERE owner_id = ?`, string(owner)).Scan(&has)
	if err == nil && has >= atMost {
		err = apikey.ErrTooMany
	}
	return err
}
