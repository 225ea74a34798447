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
