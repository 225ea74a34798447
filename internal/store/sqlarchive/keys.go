package sqlarchive

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
)

// keyColumns are what scanKey reads. They join a key's grants, and its former secrets, with spaces; ids are digits. Grants are in the order of an expression, so that
// no index has them in it: when Postgres believes that there are no grants, to go through the index of all grants by guild looks as cheap as the few of one key.
const keyColumns = `id, hash, name, owner_id, permission, created_ms, expires_ms, rate_limit,
	coalesce((SELECT string_agg(guild_id, ' ' ORDER BY guild_id || '') FROM key_grants WHERE key_id = id), ''),
	coalesce((SELECT string_agg(hex(o.hash) || ':' || o.until_ms, ' ' ORDER BY o.hash) FROM key_old_secrets o WHERE o.key_id = api_keys.id), '')`

// Key implements apikey.Source.
func (c *Catalog) Key(ctx context.Context, keyID string) (*apikey.Key, error) {
	return one(ctx, c, "read_key", scanKey,
		`SELECT `+keyColumns+` FROM api_keys WHERE id = $1`, keyID)
}

// Keys implements keys.Archive.
func (c *Catalog) Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	return list(ctx, c, "list_keys", scanKey,
		`SELECT `+keyColumns+` FROM api_keys WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
}

var scanKey = orMissing(apikey.ErrNotFound, func(row Row) (*apikey.Key, error) { return scanKeyAnd(row) })

// scanKeyAnd reads keyColumns, and the columns after them into more.
func scanKeyAnd(row Row, more ...any) (*apikey.Key, error) {
	var k apikey.Key
	var hash []byte
	var grants, old string
	err := row.Scan(append([]any{
		&k.ID, &hash, &k.Name, &k.OwnerID, &k.Permission, millis{&k.CreatedAt}, optional{&k.ExpiresAt}, &k.RateLimit, &grants, &old,
	}, more...)...)
	if err != nil {
		return nil, err
	}
	if copy(k.Hash[:], hash) != len(k.Hash) {
		return nil, fmt.Errorf("key %s has a hash of %d bytes", k.ID, len(hash))
	}
	k.GuildIDs = idsIn[id.Guild](grants)
	k.Old, err = oldSecrets(old)
	return &k, err
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

// CreateKey implements keys.Archive.
func (c *Catalog) CreateKey(ctx context.Context, k apikey.Key, by apikey.Actor, atMost int) error {
	guilds := slices.Clone(k.GuildIDs)
	slices.Sort(guilds)
	guilds = slices.Compact(guilds)
	return c.inChange(ctx, "create_key", func(t *tx) {
		if atMost > 0 { // no other key is made meanwhile: changes take turns
			t.require(apikey.ErrTooMany, `SELECT count(*) < $2 FROM api_keys WHERE owner_id = $1`, string(k.OwnerID), atMost)
		}
		t.exec(`
			INSERT INTO api_keys (id, hash, name, owner_id, permission, created_ms, expires_ms, rate_limit)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, k.ID, k.Hash[:], k.Name, string(k.OwnerID), string(k.Permission),
			k.CreatedAt.UnixMilli(), optionalMillis(k.ExpiresAt), k.RateLimit)
		granted := t.exec(`
			INSERT INTO key_grants (key_id, guild_id, granted_by) SELECT $1, id, $3 FROM guilds
			WHERE id IN (SELECT value ->> 0 FROM jsonb_each($2))`,
			k.ID, jsonList(guilds), string(by))
		if granted < int64(len(guilds)) {
			t.fail(guild.ErrNotFound)
		}
		t.changed(k.ID, apikey.Record{By: by, Action: apikey.Created, GuildIDs: guilds})
		t.auditedGrants(audit.Granted, k.ID, guilds)
	})
}

// AddUse implements apikey.UseStore.
func (c *Catalog) AddUse(ctx context.Context, hour int64, uses []apikey.KeyUse) error {
	rows := make([][]any, len(uses))
	for i, u := range uses {
		rows[i] = []any{u.KeyID, u.Requests, u.LastUsed.UnixMilli()}
	}
	used := jsonRows(rows)
	return c.inTx(ctx, "add_key_use", func(t *tx) {
		// In one order among replicas, and before anything else, so that none waits for another in a circle and no key is
		// deleted in between.
		t.exec(`SELECT id FROM api_keys WHERE id IN (SELECT value ->> 0 FROM jsonb_each($1)) ORDER BY id FOR NO KEY UPDATE`, used)
		t.exec(`
			UPDATE api_keys SET last_used_ms = u.last
			FROM (SELECT value ->> 0 AS id, CAST(value ->> 2 AS bigint) AS last FROM jsonb_each($1)) AS u
			WHERE api_keys.id = u.id AND coalesce(last_used_ms, 0) < u.last`, used)
		t.exec(`
			INSERT INTO key_use AS w (key_id, hour, requests)
			SELECT k.id, $2, CAST(u.value ->> 1 AS bigint) FROM jsonb_each($1) AS u JOIN api_keys AS k ON k.id = u.value ->> 0 WHERE true
			ON CONFLICT (key_id, hour) DO UPDATE SET requests = w.requests + excluded.requests`, used, hour)
	})
}

// OwnedKeys implements keys.Archive.
func (c *Catalog) OwnedKeys(ctx context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error) {
	return list(ctx, c, "list_owned_keys", scanOwned, `
		SELECT `+keyColumns+`,
			coalesce((SELECT string_agg(granted_by, ' ' ORDER BY guild_id || '') FROM key_grants WHERE key_id = id), ''), last_used_ms,
			(SELECT CAST(COALESCE(sum(requests), 0) AS bigint) FROM key_use WHERE key_id = id AND hour > $2)
		FROM api_keys WHERE owner_id = $1 ORDER BY created_ms DESC, id LIMIT $3`,
		string(owner), hour-apikey.HoursOfDay, limit)
}

func scanOwned(row Row) (o apikey.Owned, err error) {
	var by string
	k, err := scanKeyAnd(row, &by, optional{&o.LastUsed}, &o.Requests)
	if err != nil {
		return o, err
	}
	o.Key = *k
	for i, who := range strings.Fields(by) {
		o.Grants = append(o.Grants, apikey.Grant{GuildID: k.GuildIDs[i], By: apikey.Actor(who)})
	}
	return o, nil
}

// KeepGrants implements keys.Archive.
func (c *Catalog) KeepGrants(ctx context.Context, owner id.User, guilds []id.Guild) (changed []string, err error) {
	args := []any{string(owner), jsonList(guilds)}
	// Nearly always there is nothing to do, and a look takes no lock that others wait for.
	any, err := one(ctx, c, "keep_grants", scanValue[bool], `SELECT EXISTS (
		SELECT 1 FROM key_grants g JOIN api_keys k ON k.id = g.key_id
		WHERE k.owner_id = $1 AND g.granted_by = $1 AND g.guild_id NOT IN (SELECT value ->> 0 FROM jsonb_each($2)))`, args...)
	if err != nil || !any {
		return nil, err
	}
	err = c.inChange(ctx, "keep_grants", func(t *tx) {
		lost := map[id.Guild]int{}
		for _, l := range readAll(t, scanLoss, `
			SELECT g.key_id, string_agg(g.guild_id, ' ' ORDER BY g.guild_id) FROM key_grants g JOIN api_keys k ON k.id = g.key_id
			WHERE k.owner_id = $1 AND g.granted_by = $1 AND g.guild_id NOT IN (SELECT value ->> 0 FROM jsonb_each($2))
			GROUP BY g.key_id ORDER BY g.key_id`, args...) {
			t.exec(`DELETE FROM key_grants WHERE key_id = $1 AND guild_id IN (SELECT value ->> 0 FROM jsonb_each($2))`, l.keyID, jsonList(l.guilds))
			t.record(apikey.Record{By: apikey.Service, Action: apikey.Ungranted, GuildIDs: l.guilds}, l.keyID)
			changed = append(changed, l.keyID)
			for _, g := range l.guilds {
				lost[g]++
			}
		}
		t.log(changes.Key, changed...)
		for _, g := range slices.Sorted(maps.Keys(lost)) { // as everybody locks guilds
			for range lost[g] {
				t.audited(g, audit.Entry{By: audit.By{Actor: audit.TheService}, Action: audit.Ungranted, UserID: owner}, nil, nil)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

// loss is the guilds that a key loses.
type loss struct {
	keyID  string
	guilds []id.Guild
}

func scanLoss(row Row) (l loss, err error) {
	var guilds string
	err = row.Scan(&l.keyID, &guilds)
	l.guilds = idsIn[id.Guild](guilds)
	return l, err
}
