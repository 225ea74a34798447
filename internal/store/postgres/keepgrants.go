package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

// lostGrants are what the user $1 granted their keys in other guilds than $2.
const lostGrants = `
	FROM key_grants g JOIN api_keys k ON k.id = g.key_id
	WHERE k.owner_id = $1 AND g.granted_by = $1 AND g.guild_id <> ALL($2)`

// KeepGrants implements profile.Archive.
func (a *Archive) KeepGrants(ctx context.Context, owner id.User, guilds []id.Guild) (changed []string, err error) {
	kept := texts(guilds)
	// Nearly always there is nothing to do, and a look takes no lock that others wait for.
	if lost, err := a.anyLost(ctx, owner, kept); err != nil || !lost {
		return nil, wrap("look for grants to take away", err)
	}
	err = a.inChange(ctx, "keep_grants", func(ctx context.Context, c *change) error {
		rows, err := c.Query(ctx, `SELECT g.key_id, array_agg(g.guild_id ORDER BY g.guild_id)`+lostGrants+`
			GROUP BY g.key_id ORDER BY g.key_id`, string(owner), kept)
		if err != nil {
			return err
		}
		type loss struct {
			KeyID  string
			Guilds []id.Guild
		}
		losses, err := pgx.CollectRows(rows, pgx.RowToStructByPos[loss])
		if err != nil {
			return err
		}
		for _, l := range losses {
			_, err := c.Exec(ctx, `DELETE FROM key_grants WHERE key_id = $1 AND guild_id = ANY($2)`, l.KeyID, texts(l.Guilds))
			if err != nil {
				return err
			}
			err = c.record(ctx, apikey.Record{By: apikey.Service, Action: apikey.Ungranted, GuildIDs: l.Guilds}, l.KeyID)
			if err != nil {
				return err
			}
			changed = append(changed, l.KeyID)
		}
		_, err = c.log(ctx, changes.Key, changed...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

func (a *Archive) anyLost(ctx context.Context, owner id.User, kept []string) (lost bool, err error) {
	ctx, cancel := bounded(ctx, "keep_grants")
	defer cancel()
	err = a.pool.QueryRow(ctx, `SELECT EXISTS (SELECT`+lostGrants+`)`, string(owner), kept).Scan(&lost)
	return lost, err
}
