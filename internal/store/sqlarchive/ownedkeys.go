package sqlarchive

import (
	"context"
	"maps"
	"slices"
	"strings"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
)

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
	var last *int64
	k, err := scanKeyAnd(row, &by, &last, &o.Requests)
	if err != nil {
		return o, err
	}
	o.Key, o.LastUsed = *k, optionalTime(last)
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
	err = c.inChange(ctx, "keep_grants", func(ctx context.Context, c *change) error {
		rows, err := c.QueryContext(ctx, `
			SELECT g.key_id, string_agg(g.guild_id, ' ' ORDER BY g.guild_id) FROM key_grants g JOIN api_keys k ON k.id = g.key_id
			WHERE k.owner_id = $1 AND g.granted_by = $1 AND g.guild_id NOT IN (SELECT value ->> 0 FROM jsonb_each($2))
			GROUP BY g.key_id ORDER BY g.key_id`, args...)
		losses, err := Collect(rows, err, scanLoss)
		if err != nil {
			return err
		}
		lost := map[id.Guild]int{}
		for _, l := range losses {
			_, err := c.ExecContext(ctx, `
				DELETE FROM key_grants WHERE key_id = $1 AND guild_id IN (SELECT value ->> 0 FROM jsonb_each($2))`, l.keyID, jsonList(l.guilds))
			if err != nil {
				return err
			}
			err = c.record(ctx, apikey.Record{By: apikey.Service, Action: apikey.Ungranted, GuildIDs: l.guilds}, l.keyID)
			if err != nil {
				return err
			}
			changed = append(changed, l.keyID)
			for _, g := range l.guilds {
				lost[g]++
			}
		}
		if _, err = c.log(ctx, changes.Key, changed...); err != nil {
			return err
		}
		for _, g := range slices.Sorted(maps.Keys(lost)) { // as everybody locks guilds
			for range lost[g] {
				err := c.audited(ctx, g, audit.Entry{By: audit.By{Actor: audit.TheService}, Action: audit.Ungranted, UserID: owner}, nil, nil)
				if err != nil {
					return err
				}
			}
		}
		return nil
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
