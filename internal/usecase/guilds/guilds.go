package guilds

import (
	"context"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Read reads a guild's settings from the archive.
func (a *Guilds) Read(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	found, err := a.archive.Guild(ctx, g)
	return found, asFault("read a guild", err)
}

// List lists guilds in ascending order of their ids, after the id after ("" from the start), at most limit.
func (a *Guilds) List(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error) {
	found, err := a.archive.Guilds(ctx, after, limit)
	return found, asFault("list guilds", err)
}

// Put creates the guild or replaces its settings. Its members stay as they are. A guild that has these settings already
// keeps its version, and every replica what it holds of it in memory: bots put all their guilds when they start.
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
	if err != nil {
		return nil, false, asFault("write a guild", err)
	}
	a.announce.Announce(ctx, changes.Guild, string(s.ID))
	return g, created, nil
}

// Change puts the properties of the change in place and leaves the rest, whatever else is changed meanwhile.
func (a *Guilds) Change(ctx context.Context, gid id.Guild, change guild.Change) (*guild.Guild, error) {
	if err := change.CheckHosts(a.AllowedHost); err != nil {
		return nil, err
	}
	g, err := a.archive.ChangeGuild(ctx, gid, change)
	if err != nil {
		return nil, asFault("change a guild", err)
	}
	a.announce.Announce(ctx, changes.Guild, string(gid))
	return g, nil
}

const (
	purgeLimit = 20000
	// purgeTime bounds how long a deletion waits for its members' rows; what is left then, the snapshot writer purges.
	purgeTime = 5 * time.Second
	// purgeKeep spares tombstones of guilds that live; a deletion is not the time to look for them.
	purgeKeep = 24 * time.Hour
)

// Delete removes the guild with all its members, live and archived. From the moment the archive has committed, the
// guild is gone; what fails after that is only room that the snapshot writer frees later.
func (a *Guilds) Delete(ctx context.Context, g id.Guild) error {
	gone, err := a.archive.DeleteGuild(ctx, g)
	if err != nil {
		return asFault("delete a guild", err)
	}
	a.announce.Announce(ctx, changes.Guild, string(g))
	if err := a.live.Drop(ctx, leaderboard.Ref(gone)); err != nil {
		// Not purged here either: what is left in the archive tells the snapshot writer what to remove from Redis.
		a.log.WarnContext(ctx, "a deleted guild's members are still in Redis; nothing to do, the snapshot writer removes them", "guild", g, "error", err)
		return nil
	}
	// Other deleted guilds may not have left Redis yet, and a purge would not spare the note that says so.
	if deleted, err := a.archive.Deleted(ctx, 2); err != nil || len(deleted) > 1 {
		return nil
	}
	for deadline := a.now().Add(purgeTime); a.now().Before(deadline); {
		n, err := a.archive.Purge(ctx, purgeLimit, snapshot.Keep{Tombstones: purgeKeep})
		if err != nil {
			a.log.WarnContext(ctx, "a deleted guild's rows are still in the archive; nothing to do, the snapshot writer removes them", "guild", g, "error", err)
			return nil
		}
		if n < purgeLimit {
			return nil
		}
	}
	return nil
}
