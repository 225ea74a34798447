package sqlarchive

import (
	"context"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
)

const readDirectory = `SELECT document FROM directories WHERE guild_id = $1`

func scanDirectory(row Row) (guild.Directory, error) {
	document, err := scanValue[[]byte](row)
	if err != nil {
		return guild.Directory{}, err
	}
	return guild.UnmarshalDirectory(document)
}

// Directory implements guilds.Archive. A guild without a row has an empty one.
func (c *Catalog) Directory(ctx context.Context, g id.Guild) (guild.Directory, error) {
	return one(ctx, c, "read_directory", orMissing(nil, scanDirectory), readDirectory, string(g))
}

func (t *tx) directory(g id.Guild) guild.Directory {
	found, _ := readRow(t, scanDirectory, readDirectory, string(g))
	return found
}

// Describe implements guilds.Archive.
func (c *Catalog) Describe(ctx context.Context, gid id.Guild, given guild.Description) (shown bool, err error) {
	err = c.inChange(ctx, "describe_guild", func(t *tx) {
		g, before := t.locked(gid), t.directory(gid)
		if t.err != nil {
			return
		}
		settings, after := given.In(g.Settings, before)
		if shown = !guild.Same(g.Settings, settings); shown {
			t.rename(settings)
		}
		if !guild.SameDirectory(before, after) {
			document, err := guild.MarshalDirectory(after)
			t.fail(err)
			t.exec(`
				INSERT INTO directories (guild_id, document) VALUES ($1, $2)
				ON CONFLICT (guild_id) DO UPDATE SET document = excluded.document`, string(gid), string(document))
		}
		t.auditedChanges(audit.Directory, &guild.Described{Settings: g.Settings, Directory: before}, guild.Described{Settings: settings, Directory: after})
	})
	return shown && err == nil, err
}

// rename writes settings that differ only in the fields of a guild.Description, and returns their version.
func (t *tx) rename(s guild.Settings) (version int64) {
	document := t.fitting(s)
	version = t.log(changes.Guild, string(s.ID))
	t.exec(`UPDATE guilds SET settings = $2, described = $3 WHERE id = $1`, string(s.ID), document, version)
	return version
}
