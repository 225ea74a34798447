package sqlarchive

import (
	"context"
	"slices"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// scanGuildAfter reads id, settings, incarnation, version, described and hidden, and columns before them.
func scanGuildAfter(row Row, before ...any) (*guild.Guild, error) {
	var document []byte
	var g guild.Guild
	var gid id.Guild
	var described int64
	err := row.Scan(append(before, &gid, &document, &g.Incarnation, &g.Edited, &described, &g.Hidden)...)
	if err == nil {
		g.Settings, err = guild.Unmarshal(document)
	}
	if err != nil {
		return nil, err
	}
	g.ID, g.Version = gid, max(g.Edited, described, g.Hidden)
	return &g, nil
}

func scanLocked(row Row) (*guild.Guild, error) { return scanGuildAfter(row) }

var scanGuild = orMissing(guild.ErrNotFound, scanLocked)

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
	return list(ctx, c, "list_deleted_guilds", scanRef, `SELECT guild_id, incarnation FROM deleted_guilds ORDER BY deleted_ms LIMIT $1`, limit)
}

// scanRef reads a guild's id and incarnation.
var scanRef = columns(func(g *leaderboard.GuildRef) []any { return []any{&g.ID, &g.Incarnation} })

// PutGuild implements guilds.Archive.
func (c *Catalog) PutGuild(ctx context.Context, s guild.Settings) (g *guild.Guild, created bool, err error) {
	err = c.inChange(ctx, "put_guild", func(t *tx) {
		present, _ := readRow(t, scanLocked, lockGuild, string(s.ID))
		created = present == nil
		g = t.write(present, s, `
			INSERT INTO guilds (id, vanity, settings, version, closes_ms, open, incarnation, created_ms)
			VALUES ($1, NULLIF($2, ''), $3, $4, CASE WHEN $5 = 1 THEN 0 END, $6, $7, now_ms())
			ON CONFLICT (id) DO UPDATE SET vanity = excluded.vanity, settings = excluded.settings, version = excluded.version, open = excluded.open,
				closes_ms = CASE WHEN $5 = 1 OR guilds.closes_ms IS NOT NULL THEN 0 END
			RETURNING incarnation`, int64(guild.NewIncarnation()))
	})
	return g, created && err == nil, err
}

// UpdateGuild implements guilds.Archive.
func (c *Catalog) UpdateGuild(ctx context.Context, s guild.Settings, edited int64) (g *guild.Guild, err error) {
	err = c.inChange(ctx, "update_guild", func(t *tx) {
		present := t.locked(s.ID)
		if t.err != nil {
			return
		}
		if present.Edited != edited {
			t.fail(guild.ErrChanged)
		}
		s.Name, s.Icon, s.MemberCount = present.Name, present.Icon, present.MemberCount
		g = t.write(present, s, updateGuild)
	})
	return g, err
}

// ChangeGuild implements guilds.Archive. A property that a Description sets, too, is no edit: it may change while a manager has a form open.
func (c *Catalog) ChangeGuild(ctx context.Context, gid id.Guild, given guild.Change) (g *guild.Guild, err error) {
	err = c.inChange(ctx, "change_guild", func(t *tx) {
		if g = t.locked(gid); t.err != nil {
			return
		}
		s, err := given.In(g.Settings)
		if err == nil {
			err = s.KeepSecrets(&g.Settings)
		}
		directory := t.directory(gid)
		if t.fail(err); t.err != nil {
			return
		}
		after := directory.Named(s)
		described := after
		described.Name, described.Icon, described.MemberCount = g.Name, g.Icon, g.MemberCount
		switch {
		case guild.Same(after, g.Settings):
		case !guild.Same(described, g.Settings):
			g = t.write(g, s, updateGuild)
		default:
			before := &guild.Described{Settings: g.Settings, Directory: directory}
			g.Settings = after
			g.Version = t.rename(after)
			t.auditedChanges(audit.Settings, before, guild.Described{Settings: after, Directory: directory})
		}
	})
	return g, err
}

const updateGuild = `
	UPDATE guilds SET vanity = NULLIF($2, ''), settings = $3, version = $4, open = $6,
		closes_ms = CASE WHEN $5 = 1 OR closes_ms IS NOT NULL THEN 0 END
	WHERE id = $1 RETURNING incarnation`

// write writes settings in the place of those that are present, if any, by a statement on id, vanity, document, version, whether gains are counted
// and which periods are open, and more. A guild is due then that counts gains, or that has not noted yet that it does not any more.
func (t *tx) write(present *guild.Guild, s guild.Settings, statement string, more ...any) *guild.Guild {
	var saved *guild.Settings
	if present != nil {
		saved = &present.Settings
	}
	t.fail(s.KeepSecrets(saved))
	directory := t.directory(s.ID)
	g := &guild.Guild{Settings: directory.Named(s)}
	document := t.fitting(g.Settings)
	t.require(guild.ErrVanityTaken, `SELECT NOT EXISTS (SELECT 1 FROM guilds WHERE vanity = NULLIF($1, '') AND id <> $2)`, string(s.Vanity), string(s.ID))
	t.keepsSeasons(s)
	g.Version = t.log(changes.Guild, string(s.ID))
	g.Edited = g.Version
	args := []any{string(s.ID), string(s.Vanity), document, g.Version, asInt(s.Calendar().Counts()), t.openSince(s)}
	g.Incarnation, _ = readValue[guild.Incarnation](t, statement, append(args, more...)...)
	if present != nil && !present.SameRoles(&s) {
		t.exec(`UPDATE guilds SET reset = $2 WHERE id = $1 AND reset = ''`, string(s.ID), string(events.Settings))
	}
	t.putAnnouncements(saved, g.Settings)
	var before *guild.Described
	if present != nil {
		before = &guild.Described{Settings: present.Settings, Directory: directory}
	}
	t.auditedChanges(audit.Settings, before, guild.Described{Settings: g.Settings, Directory: directory})
	return g
}

const lockGuild = `SELECT id, settings, incarnation, version, described, hidden FROM guilds WHERE id = $1 FOR UPDATE`

// locked reads a guild and locks its row. It fails with guild.ErrNotFound when there is none.
func (t *tx) locked(g id.Guild) *guild.Guild {
	found, _ := readRow(t, scanGuild, lockGuild, string(g))
	return found
}

// fitting is the settings' document. It fails with guild.ErrTooLong when that is too long, which names of a directory can make it.
func (t *tx) fitting(s guild.Settings) string {
	document, err := guild.MarshalSecrets(s)
	if err == nil && len(document) > guild.MaxDocument {
		err = guild.ErrTooLong
	}
	t.fail(err)
	return string(document)
}

// DeleteGuild implements guilds.Archive.
func (c *Catalog) DeleteGuild(ctx context.Context, gid id.Guild) (g *guild.Guild, err error) {
	err = c.inChange(ctx, "delete_guild", func(t *tx) {
		if g = t.locked(gid); t.err != nil {
			return
		}
		keys := readAll(t, scanValue[string], `SELECT key_id FROM key_grants WHERE guild_id = $1`, string(gid))
		slices.Sort(keys) // not by the server, which could take the index of all grants by key for it, as in byGuild
		t.record(apikey.Record{By: apikey.Operator, Action: apikey.Ungranted, GuildIDs: []id.Guild{gid}}, keys...)
		t.dropCheckpoints(`SELECT incarnation FROM checkpoints WHERE guild_id = $1`, string(gid))
		t.exec(`INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) SELECT audit_log, id, now_ms()
			FROM guilds WHERE id = $1 AND audit_log IS NOT NULL ON CONFLICT DO NOTHING`, string(gid))
		t.exec(`DELETE FROM guilds WHERE id = $1`, string(gid))
		t.exec(`INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) VALUES ($1, $2, now_ms())`, int64(g.Incarnation), string(gid))
		t.log(changes.Guild, string(gid))
		t.log(changes.Key, keys...)
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

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
