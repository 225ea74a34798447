package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

const guildColumns = `id, settings, incarnation, version`

// Guild implements guild.Source. Concurrent calls share a query.
func (a *Archive) Guild(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	found, err := a.guilds.do(named(ctx, "read_guild"), g)
	if err == nil {
		err = found.err
	}
	return found.guild, wrap("read a guild", err)
}

// foundGuild is what was found of one guild.
type foundGuild struct {
	guild *guild.Guild
	err   error
}

// readGuilds reads guilds, each with an error of its own.
func (a *Archive) readGuilds(ctx context.Context, guilds []id.Guild) ([]foundGuild, error) {
	ids, found := make([]string, len(guilds)), make([]foundGuild, len(guilds))
	for i, g := range guilds {
		ids[i], found[i].err = string(g), guild.ErrNotFound
	}
	rows, err := a.pool.Query(ctx, `
		SELECT n, `+guildColumns+` FROM unnest($1::text[]) WITH ORDINALITY AS asked (id, n) JOIN guilds USING (id)`, plannedNow, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var place int64
		g, err := scanGuild(rows, &place)
		if place == 0 {
			return nil, err
		}
		found[place-1] = foundGuild{g, err}
	}
	return found, rows.Err()
}

// GuildByVanity implements guild.Source.
func (a *Archive) GuildByVanity(ctx context.Context, vanity string) (*guild.Guild, error) {
	return a.oneGuild(ctx, `SELECT `+guildColumns+` FROM guilds WHERE vanity = $1`, vanity)
}

func (a *Archive) oneGuild(ctx context.Context, query, arg string) (*guild.Guild, error) {
	ctx, cancel := bounded(ctx, "read_guild_by_vanity")
	defer cancel()
	g, err := scanGuild(a.pool.QueryRow(ctx, query, plannedNow, arg))
	return g, wrap("read a guild", err)
}

// Guilds implements admin.Archive.
func (a *Archive) Guilds(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error) {
	ctx, cancel := bounded(ctx, "list_guilds")
	defer cancel()
	rows, err := a.pool.Query(ctx,
		`SELECT `+guildColumns+` FROM guilds WHERE id > $1 ORDER BY id LIMIT $2`, string(after), limit)
	if err != nil {
		return nil, wrap("list guilds", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*guild.Guild, error) { return scanGuild(row) })
	return found, wrap("list guilds", err)
}

// scanGuild reads guildColumns, and columns before them.
func scanGuild(row pgx.Row, before ...any) (*guild.Guild, error) {
	var document []byte
	var g guild.Guild
	var gid id.Guild
	err := row.Scan(append(before, &gid, &document, &g.Incarnation, &g.Version)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, guild.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if g.Settings, err = guild.Unmarshal(document); err != nil {
		return nil, err
	}
	g.ID = gid
	return &g, nil
}

// PutGuild implements admin.Archive.
func (a *Archive) PutGuild(ctx context.Context, s guild.Settings) (g *guild.Guild, created bool, err error) {
	document, err := guild.Marshal(s)
	if err != nil {
		return nil, false, wrap("write a guild", err)
	}
	g = &guild.Guild{Settings: s}
	fresh := guild.NewIncarnation()
	err = a.inChange(ctx, "put_guild", func(ctx context.Context, c *change) error {
		version, err := c.log(ctx, changes.Guild, string(s.ID))
		if err != nil {
			return err
		}
		err = c.QueryRow(ctx, `
			INSERT INTO guilds (id, incarnation, vanity, settings, version, created_ms)
			VALUES ($1, $2, NULLIF($3, ''), $4, $5, `+nowMS+`)
			ON CONFLICT (id) DO UPDATE
			SET vanity = excluded.vanity, settings = excluded.settings, version = excluded.version
			RETURNING incarnation, version`,
			string(s.ID), int64(fresh), s.Vanity, document, version,
		).Scan(&g.Incarnation, &g.Version)
		if violates(err, "guilds_vanity_key") {
			return guild.ErrVanityTaken
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return g, g.Incarnation == fresh, nil
}

// UpdateGuild implements settings.Archive.
func (a *Archive) UpdateGuild(ctx context.Context, s guild.Settings, version int64) (*guild.Guild, error) {
	document, err := guild.Marshal(s)
	if err != nil {
		return nil, wrap("update a guild", err)
	}
	g := &guild.Guild{Settings: s}
	err = a.inChange(ctx, "update_guild", func(ctx context.Context, c *change) error {
		var present int64
		err := c.QueryRow(ctx, `SELECT version FROM guilds WHERE id = $1 FOR UPDATE`, string(s.ID)).Scan(&present)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return guild.ErrNotFound
		case err != nil:
			return err
		case present != version:
			return guild.ErrChanged
		}
		next, err := c.log(ctx, changes.Guild, string(s.ID))
		if err != nil {
			return err
		}
		err = c.QueryRow(ctx, `
			UPDATE guilds SET vanity = NULLIF($1, ''), settings = $2, version = $3 WHERE id = $4 RETURNING incarnation, version`,
			s.Vanity, document, next, string(s.ID),
		).Scan(&g.Incarnation, &g.Version)
		if violates(err, "guilds_vanity_key") {
			return guild.ErrVanityTaken
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// DeleteGuild implements admin.Archive.
func (a *Archive) DeleteGuild(ctx context.Context, gid id.Guild) (g *guild.Guild, err error) {
	err = a.inChange(ctx, "delete_guild", func(ctx context.Context, c *change) error {
		g, err = scanGuild(c.QueryRow(ctx, `SELECT `+guildColumns+` FROM guilds WHERE id = $1 FOR UPDATE`, string(gid)))
		if err != nil {
			return err
		}
		rows, err := c.Query(ctx, `SELECT key_id FROM key_grants WHERE guild_id = $1`, string(gid))
		if err != nil {
			return err
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		slices.Sort(keys) // not by the server, which could take the index of all grants by key for it, as in byGuild
		err = c.record(ctx, apikey.Record{By: apikey.Operator, Action: apikey.Ungranted, GuildIDs: []id.Guild{gid}}, keys...)
		if err != nil {
			return err
		}
		if _, err := c.Exec(ctx, `DELETE FROM guilds WHERE id = $1`, string(gid)); err != nil {
			return err
		}
		_, err = c.Exec(ctx, `INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) VALUES ($1, $2, `+nowMS+`)`, int64(g.Incarnation), string(gid))
		if err != nil {
			return err
		}
		if _, err := c.log(ctx, changes.Guild, string(gid)); err != nil {
			return err
		}
		_, err = c.log(ctx, changes.Key, keys...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}
