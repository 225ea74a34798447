package sqlarchive

import (
	"context"
	"database/sql"
	"errors"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
)

const readDirectory = `SELECT document FROM directories WHERE guild_id = $1`

// scanDirectory reads a directory. A guild without a row has an empty one.
func scanDirectory(row Row) (guild.Directory, error) {
	var document []byte
	err := row.Scan(&document)
	if errors.Is(err, sql.ErrNoRows) {
		return guild.Directory{}, nil
	}
	if err != nil {
		return guild.Directory{}, err
	}
	return guild.UnmarshalDirectory(document)
}

// Directory implements guilds.Archive.
func (c *Catalog) Directory(ctx context.Context, g id.Guild) (guild.Directory, error) {
	return one(ctx, c, "read_directory", scanDirectory, readDirectory, string(g))
}

func (c *change) directory(ctx context.Context, g id.Guild) (guild.Directory, error) {
	return scanDirectory(c.QueryRowContext(ctx, readDirectory, string(g)))
}

// Describe implements guilds.Archive.
func (c *Catalog) Describe(ctx context.Context, gid id.Guild, given guild.Description) (shown bool, err error) {
	err = c.inChange(ctx, "describe_guild", func(ctx context.Context, c *change) error {
		g, err := c.locked(ctx, gid)
		if err != nil {
			return err
		}
		before, err := c.directory(ctx, gid)
		if err != nil {
			return err
		}
		settings, after := given.In(g.Settings, before)
		if shown = !guild.Same(g.Settings, settings); shown {
			if _, err := c.rename(ctx, settings); err != nil {
				return err
			}
		}
		if !guild.SameDirectory(before, after) {
			if err := c.putDirectory(ctx, gid, after); err != nil {
				return err
			}
		}
		return c.auditedChanges(ctx, audit.Directory, &guild.Described{Settings: g.Settings, Directory: before}, guild.Described{Settings: settings, Directory: after})
	})
	return shown && err == nil, err
}

// rename writes settings that differ only in the fields of a guild.Description, and returns their version.
func (c *change) rename(ctx context.Context, s guild.Settings) (version int64, err error) {
	document, err := fitting(s)
	if err != nil {
		return 0, err
	}
	if version, err = c.log(ctx, changes.Guild, string(s.ID)); err != nil {
		return 0, err
	}
	_, err = c.ExecContext(ctx, `UPDATE guilds SET settings = $2, described = $3 WHERE id = $1`, string(s.ID), document, version)
	return version, err
}

func (c *change) putDirectory(ctx context.Context, g id.Guild, d guild.Directory) error {
	document, err := guild.MarshalDirectory(d)
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `
		INSERT INTO directories (guild_id, document) VALUES ($1, $2)
		ON CONFLICT (guild_id) DO UPDATE SET document = excluded.document`, string(g), string(document))
	return err
}
