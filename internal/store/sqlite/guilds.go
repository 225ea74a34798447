package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

const guildColumns = `id, settings, incarnation, version`

// Guild implements guild.Source.
func (a *Archive) Guild(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	found, err := scanGuild(a.reader.QueryRowContext(ctx, `SELECT `+guildColumns+` FROM guilds WHERE id = ?`, string(g)))
	return found, wrap("read a guild", err)
}

// GuildByVanity implements guild.Source.
func (a *Archive) GuildByVanity(ctx context.Context, vanity string) (*guild.Guild, error) {
	found, err := scanGuild(a.reader.QueryRowContext(ctx, `SELECT `+guildColumns+` FROM guilds WHERE vanity = ?`, vanity))
	return found, wrap("read a guild", err)
}

// Guilds implements admin.Archive.
func (a *Archive) Guilds(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error) {
	rows, err := a.reader.QueryContext(ctx,
		`SELECT `+guildColumns+` FROM guilds WHERE id > ? ORDER BY id LIMIT ?`, string(after), limit)
	if err != nil {
		return nil, wrap("list guilds", err)
	}
	found, err := collect(rows, scanGuild)
	return found, wrap("list guilds", err)
}

func scanGuild(row scanner) (*guild.Guild, error) {
	var document string
	var g guild.Guild
	var gid id.Guild
	err := row.Scan(&gid, &document, &g.Incarnation, &g.Version)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, guild.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if g.Settings, err = guild.Unmarshal([]byte(document)); err != nil {
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
	err = a.inChange(ctx, "write a guild", func(c *change) error {
		if err := c.vanityFree(ctx, s); err != nil {
			return err
		}
		version, err := c.log(ctx, changes.Guild, string(s.ID))
		if err != nil {
			return err
		}
		return c.QueryRowContext(ctx, `
			INSERT INTO guilds (id, incarnation, vanity, settings, version, created_ms) VALUES (?, ?, NULLIF(?, ''), ?, ?, ?)
			ON CONFLICT (id) DO UPDATE
			SET vanity = excluded.vanity, settings = excluded.settings, version = excluded.version
			RETURNING incarnation, version`,
			string(s.ID), int64(fresh), s.Vanity, string(document), version, nowMS(),
		).Scan(&g.Incarnation, &g.Version)
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
	err = a.inChange(ctx, "update a guild", func(c *change) error {
		var present int64
		err := c.QueryRowContext(ctx, `SELECT version FROM guilds WHERE id = ?`, string(s.ID)).Scan(&present)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return guild.ErrNotFound
		case err != nil:
			return err
		case present != version:
			return guild.ErrChanged
		}
		if err := c.vanityFree(ctx, s); err != nil {
			return err
		}
		next, err := c.log(ctx, changes.Guild, string(s.ID))
		if err != nil {
			return err
		}
		return c.QueryRowContext(ctx, `
			UPDATE guilds SET vanity = NULLIF(?, ''), settings = ?, version = ? WHERE id = ? RETURNING incarnation, version`,
			s.Vanity, string(document), next, string(s.ID),
		).Scan(&g.Incarnation, &g.Version)
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// vanityFree returns guild.ErrVanityTaken when another guild has the vanity.
func (c *change) vanityFree(ctx context.Context, s guild.Settings) error {
	var taken int
	err := c.QueryRowContext(ctx,
		`SELECT count(*) FROM guilds WHERE vanity = NULLIF(?, '') AND id <> ?`, s.Vanity, string(s.ID)).Scan(&taken)
	if err == nil && taken > 0 {
		return guild.ErrVanityTaken
	}
	return err
}

// DeleteGuild implements admin.Archive.
func (a *Archive) DeleteGuild(ctx context.Context, gid id.Guild) (g *guild.Guild, err error) {
	err = a.inChange(ctx, "delete a guild", func(c *change) error {
		g, err = scanGuild(c.QueryRowContext(ctx, `SELECT `+guildColumns+` FROM guilds WHERE id = ?`, string(gid)))
		if err != nil {
			return err
		}
		rows, err := c.QueryContext(ctx, `SELECT key_id FROM key_grants WHERE guild_id = ? ORDER BY key_id`, string(gid))
		if err != nil {
			return err
		}
		keys, err := collect(rows, func(row scanner) (key string, err error) {
			err = row.Scan(&key)
			return key, err
		})
		if err != nil {
			return err
		}
		err = c.record(ctx, apikey.Record{By: apikey.Operator, Action: apikey.Ungranted, GuildIDs: []id.Guild{gid}}, keys...)
		if err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, `DELETE FROM guilds WHERE id = ?`, string(gid)); err != nil {
			return err
		}
		_, err = c.ExecContext(ctx,
			`INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) VALUES (?, ?, ?)`, int64(g.Incarnation), string(gid), nowMS())
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
