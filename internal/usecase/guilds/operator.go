package guilds

import (
	"context"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// List lists at most limit guilds in ascending order of their ids, from the first id above after ("" from the start).
func (a *Guilds) List(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error) {
	found, err := a.archive.Guilds(ctx, after, limit)
	return found, Operator.asFault("list guilds", err)
}

// Put creates the guild or replaces its settings. Its members stay. If the settings are equal, the guild
// keeps its version, and the replicas keep their caches: bots put all their guilds when they start.
func (a *Guilds) Put(ctx context.Context, s guild.Settings) (g *guild.Guild, created bool, err error) {
	if g, err = a.archive.Guild(ctx, s.ID); err == nil {
		if d, err := a.archive.Directory(ctx, s.ID); err == nil && guild.Same(g.Settings, d.Named(s)) {
			return g, false, nil
		}
	}
	if err := s.CheckHosts(a.AllowedHost); err != nil {
		return nil, false, err
	}
	g, created, err = a.archive.PutGuild(ctx, s)
	return g, created, a.changed(ctx, Operator, "write a guild", s.ID, err)
}

// Change replaces the properties of the change. All others stay, even if they are changed at the same time.
func (a *Guilds) Change(ctx context.Context, gid id.Guild, change guild.Change) (*guild.Guild, error) {
	if err := change.CheckHosts(a.AllowedHost); err != nil {
		return nil, err
	}
	g, err := a.archive.ChangeGuild(ctx, gid, change)
	return g, a.changed(ctx, Operator, "change a guild", gid, err)
}

// Delete removes the guild. Nobody can read its members from the moment the archive
// commits; the snapshot writer removes them from both stores in its next sweep.
func (a *Guilds) Delete(ctx context.Context, g id.Guild) error {
	_, err := a.archive.DeleteGuild(ctx, g)
	return a.changed(ctx, Operator, "delete a guild", g, err)
}
