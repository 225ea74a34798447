package sqlarchive

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// scanGuildAfter reads id, settings, incarnation, version, described and hidden, and columns before them. It returns guild.ErrNotFound when there is no row.
func scanGuildAfter(row Row, before ...any) (*guild.Guild, error) {
	var document []byte
	var g guild.Guild
	var gid id.Guild
	var described int64
	err := row.Scan(append(before, &gid, &document, &g.Incarnation, &g.Edited, &described, &g.Hidden)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, guild.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if g.Settings, err = guild.Unmarshal(document); err != nil {
		return nil, err
	}
	g.ID, g.Version = gid, max(g.Edited, described, g.Hidden)
	return &g, nil
}

func scanGuild(row Row) (*guild.Guild, error) { return scanGuildAfter(row) }

// Guild implements guild.Source.
func (c *Catalog) Guild(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	return one(ctx, c, "read_guild", scanGuild,
		`SELECT id, settings, incarnation, version, described, hidden FROM guilds WHERE id = $1`, string(g))
}

// GuildByVanity implements guild.Source.
func (c *Catalog) GuildByVanity(ctx context.Context, vanity string) (*guild.Guild, error) {
	return one(ctx, c, "read_guild_by_vanity", scanGuild,
		`SELECT id, settings, incarnation, version, described, hidden FROM guilds WHERE vanity = $1`, vanity)
}

// Guilds implements guilds.Archive.
func (c *Catalog) Guilds(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error) {
	return list(ctx, c, "list_guilds", scanGuild,
		`SELECT id, settings, incarnation, version, described, hidden FROM guilds WHERE id > $1 ORDER BY id LIMIT $2`, string(after), limit)
}

// ManagedBy implements guilds.Archive.
func (c *Catalog) ManagedBy(ctx context.Context, user id.User, limit int) ([]*guild.Guild, error) {
	query := `
		SELECT id, settings, incarnation, version, described, hidden FROM guilds
		WHERE settings ->> 'ownerId' = $1::text OR settings -> 'adminIds' @> to_jsonb($1::text) ORDER BY id LIMIT $2`
	if c.SQLite {
		query = `
		SELECT id, settings, incarnation, version, described, hidden FROM guilds
		WHERE settings ->> 'ownerId' = $1 OR EXISTS (SELECT 1 FROM json_each(settings, '$.adminIds') WHERE value = $1) ORDER BY id LIMIT $2`
	}
	return list(ctx, c, "list_managed_guilds", scanGuild, query, string(user), limit)
}

// Deleted implements snapshot.Archive.
func (c *Catalog) Deleted(ctx context.Context, limit int) ([]leaderboard.GuildRef, error) {
	return list(ctx, c, "list_deleted_guilds", func(row Row) (g leaderboard.GuildRef, err error) {
		err = row.Scan(&g.ID, &g.Incarnation)
		return g, err
	}, `SELECT guild_id, incarnation FROM deleted_guilds ORDER BY deleted_ms LIMIT $1`, limit)
}

// PutGuild implements guilds.Archive.
func (c *Catalog) PutGuild(ctx context.Context, s guild.Settings) (g *guild.Guild, created bool, err error) {
	err = c.inChange(ctx, "put_guild", func(ctx context.Context, c *change) error {
		present, err := c.locked(ctx, s.ID)
		if err != nil && !errors.Is(err, guild.ErrNotFound) {
			return err
		}
		created = present == nil
		g, err = c.write(ctx, present, s, `
			INSERT INTO guilds (id, vanity, settings, version, closes_ms, open, incarnation, created_ms)
			VALUES ($1, NULLIF($2, ''), $3, $4, CASE WHEN $5 = 1 THEN 0 END, $6, $7, now_ms())
			ON CONFLICT (id) DO UPDATE SET vanity = excluded.vanity, settings = excluded.settings, version = excluded.version, open = excluded.open,
				closes_ms = CASE WHEN $5 = 1 OR guilds.closes_ms IS NOT NULL THEN 0 END
			RETURNING incarnation`, int64(guild.NewIncarnation()))
		return err
	})
	return g, created && err == nil, err
}

// UpdateGuild implements guilds.Archive.
func (c *Catalog) UpdateGuild(ctx context.Context, s guild.Settings, edited int64) (g *guild.Guild, err error) {
	err = c.inChange(ctx, "update_guild", func(ctx context.Context, c *change) error {
		present, err := c.locked(ctx, s.ID)
		if err != nil {
			return err
		}
		if present.Edited != edited {
			return guild.ErrChanged
		}
		s.Name, s.Icon, s.MemberCount = present.Name, present.Icon, present.MemberCount
		g, err = c.write(ctx, present, s, updateGuild)
		return err
	})
	return g, err
}

// ChangeGuild implements guilds.Archive. A property that a Description sets, too, is no edit: it may change while a manager has a form open.
func (c *Catalog) ChangeGuild(ctx context.Context, gid id.Guild, given guild.Change) (g *guild.Guild, err error) {
	err = c.inChange(ctx, "change_guild", func(ctx context.Context, c *change) error {
		if g, err = c.locked(ctx, gid); err != nil {
			return err
		}
		s, err := given.In(g.Settings)
		if err == nil {
			err = s.KeepSecrets(&g.Settings)
		}
		if err != nil {
			return err
		}
		directory, err := c.directory(ctx, gid)
		if err != nil {
			return err
		}
		after := directory.Named(s)
		described := after
		described.Name, described.Icon, described.MemberCount = g.Name, g.Icon, g.MemberCount
		switch {
		case guild.Same(after, g.Settings):
			return nil
		case !guild.Same(described, g.Settings):
			g, err = c.write(ctx, g, s, updateGuild)
			return err
		}
		before := &guild.Described{Settings: g.Settings, Directory: directory}
		g.Settings = after
		if g.Version, err = c.rename(ctx, after); err != nil {
			return err
		}
		return c.auditedChanges(ctx, audit.Settings, before, guild.Described{Settings: after, Directory: directory})
	})
	return g, err
}

const updateGuild = `
	UPDATE guilds SET vanity = NULLIF($2, ''), settings = $3, version = $4, open = $6,
		closes_ms = CASE WHEN $5 = 1 OR closes_ms IS NOT NULL THEN 0 END
	WHERE id = $1 RETURNING incarnation`

// write writes settings in the place of those that are present, if any, by a statement on id, vanity, document, version, whether gains are counted
// and which periods are open, and more. A guild is due then that counts gains, or that has not noted yet that it does not any more.
func (c *change) write(ctx context.Context, present *guild.Guild, s guild.Settings, statement string, more ...any) (*guild.Guild, error) {
	var saved *guild.Settings
	if present != nil {
		saved = &present.Settings
	}
	if err := s.KeepSecrets(saved); err != nil {
		return nil, err
	}
	directory, err := c.directory(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	g := &guild.Guild{Settings: directory.Named(s)}
	document, err := fitting(g.Settings)
	if err != nil {
		return nil, err
	}
	err = c.exists(ctx, `SELECT NOT EXISTS (SELECT 1 FROM guilds WHERE vanity = NULLIF($1, '') AND id <> $2)`,
		guild.ErrVanityTaken, string(s.Vanity), string(s.ID))
	if err != nil {
		return nil, err
	}
	if err := c.keepsSeasons(ctx, s); err != nil {
		return nil, err
	}
	if g.Version, err = c.log(ctx, changes.Guild, string(s.ID)); err != nil {
		return nil, err
	}
	g.Edited = g.Version
	open, err := c.openSince(ctx, s)
	if err != nil {
		return nil, err
	}
	err = c.QueryRowContext(ctx, statement, append([]any{
		string(s.ID), string(s.Vanity), document, g.Version, asInt(s.Calendar().Counts()), open,
	}, more...)...).Scan(&g.Incarnation)
	if err == nil && present != nil && !present.SameRoles(&s) {
		_, err = c.ExecContext(ctx, `UPDATE guilds SET reset = $2 WHERE id = $1 AND reset = ''`, string(s.ID), string(events.Settings))
	}
	if err != nil {
		return nil, err
	}
	if err := c.putAnnouncements(ctx, saved, g.Settings); err != nil {
		return nil, err
	}
	var before *guild.Described
	if present != nil {
		before = &guild.Described{Settings: present.Settings, Directory: directory}
	}
	return g, c.auditedChanges(ctx, audit.Settings, before, guild.Described{Settings: g.Settings, Directory: directory})
}

// locked reads a guild and locks its row. guild.ErrNotFound when there is none.
func (c *change) locked(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	return scanGuild(c.QueryRowContext(ctx, c.sql(`SELECT id, settings, incarnation, version, described, hidden FROM guilds WHERE id = $1 FOR UPDATE`), string(g)))
}

// fitting is the settings' document. guild.ErrTooLong when it is too long, which names of a directory can make it.
func fitting(s guild.Settings) (string, error) {
	document, err := guild.MarshalSecrets(s)
	if err == nil && len(document) > guild.MaxDocument {
		err = guild.ErrTooLong
	}
	return string(document), err
}

// DeleteGuild implements guilds.Archive.
func (c *Catalog) DeleteGuild(ctx context.Context, gid id.Guild) (g *guild.Guild, err error) {
	err = c.inChange(ctx, "delete_guild", func(ctx context.Context, c *change) error {
		if g, err = c.locked(ctx, gid); err != nil {
			return err
		}
		rows, err := c.QueryContext(ctx, `SELECT key_id FROM key_grants WHERE guild_id = $1`, string(gid))
		keys, err := Collect(rows, err, scanValue[string])
		if err != nil {
			return err
		}
		slices.Sort(keys) // not by the server, which could take the index of all grants by key for it, as in byGuild
		err = c.record(ctx, apikey.Record{By: apikey.Operator, Action: apikey.Ungranted, GuildIDs: []id.Guild{gid}}, keys...)
		if err != nil {
			return err
		}
		if err := c.dropCheckpoints(ctx, `SELECT incarnation FROM checkpoints WHERE guild_id = $1`, string(gid)); err != nil {
			return err
		}
		_, err = c.ExecContext(ctx, `INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) SELECT audit_log, id, now_ms()
			FROM guilds WHERE id = $1 AND audit_log IS NOT NULL ON CONFLICT DO NOTHING`, string(gid))
		if err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, `DELETE FROM guilds WHERE id = $1`, string(gid)); err != nil {
			return err
		}
		_, err = c.ExecContext(ctx, `INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) VALUES ($1, $2, now_ms())`,
			int64(g.Incarnation), string(gid))
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
