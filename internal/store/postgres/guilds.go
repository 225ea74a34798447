package postgres

import (
	"context"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlarchive"
)

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
		SELECT n, `+sqlarchive.GuildColumns+` FROM unnest($1::text[]) WITH ORDINALITY AS asked (id, n) JOIN guilds USING (id)`, plannedNow, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var place int64
		g, err := sqlarchive.ScanGuild(rows, &place)
		if place == 0 {
			return nil, err
		}
		found[place-1] = foundGuild{g, err}
	}
	return found, rows.Err()
}
