package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

// lostGrants are what the user ?1 granted their keys in other guilds than ?2.
const lostGrants = `
	FROM key_grants g JOIN api_keys k ON k.id = g.key_id
	WHERE k.owner_id = ?1 AND g.granted_by = ?1 AND g.guild_id NOT IN (SELECT value FROM json_each(?2))`

// KeepGrants implements profile.Archive.
func (a *Archive) KeepGrants(ctx context.Context, owner id.User, guilds []id.Guild) (changed []string, err error) {
	kept := jsonList(guilds)
	// Nearly always there is nothing to do, and a look does not hold up those who write.
	var lost bool
	err = a.reader.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1`+lostGrants+`)`, string(owner), kept).Scan(&lost)
	if err != nil || !lost {
		return nil, wrap("look for grants to take away", err)
	}
	type loss struct {
		keyID  string
		guilds []id.Guild
	}
	err = a.inChange(ctx, "take grants away", func(c *change) error {
		rows, err := c.QueryContext(ctx, `SELECT g.key_id, group_concat(g.guild_id, ' ' ORDER BY g.guild_id)`+lostGrants+`
			GROUP BY g.key_id ORDER BY g.key_id`, string(owner), kept)
		if err != nil {
			return err
		}
		losses, err := collect(rows, func(row scanner) (l loss, err error) {
			var text sql.NullString
			err = row.Scan(&l.keyID, &text)
			l.guilds = guildsIn(text.String)
			return l, err
		})
		if err != nil {
			return err
		}
		for _, l := range losses {
			_, err := c.ExecContext(ctx,
				`DELETE FROM key_grants WHERE key_id = ? AND guild_id IN (SELECT value FROM json_each(?))`, l.keyID, jsonList(l.guilds))
			if err != nil {
				return err
			}
			err = c.changed(ctx, l.keyID, apikey.Record{By: apikey.Service, Action: apikey.Ungranted, GuildIDs: l.guilds})
			if err != nil {
				return err
			}
			changed = append(changed, l.keyID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

// jsonList is a list as a parameter for json_each.
func jsonList[T ~string](list []T) string {
	if list == nil {
		return "[]"
	}
	text, _ := json.Marshal(list) // texts always can
	return string(text)
}
