package guilds

import (
	"context"
	"errors"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// maxManaged is the maximum number of guilds that ManagedBy lists.
const maxManaged = 100

// ManagedBy lists at most maxManaged guilds whose settings name the user as owner or administrator.
func (a *Guilds) ManagedBy(ctx context.Context, user id.User) ([]*guild.Guild, error) {
	found, err := a.archive.ManagedBy(ctx, user, maxManaged)
	return found, Manager.asFault("list the guilds of a manager", err)
}

// Free reports whether guild g could have the vanity: no guild has it, or g itself. The answer may be out of date at once; Save decides.
func (a *Guilds) Free(ctx context.Context, g id.Guild, vanity string) (bool, error) {
	owner, err := a.archive.GuildByVanity(ctx, vanity)
	if errors.Is(err, guild.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, Manager.asFault("look for a vanity", err)
	}
	return owner.ID == g, nil
}

// Directory reads the roles and channels that the guild's bot described.
func (a *Guilds) Directory(ctx context.Context, g id.Guild) (guild.Directory, error) {
	d, err := a.archive.Directory(ctx, g)
	return d, Manager.asFault("read a directory", err)
}

// Describe stores the bot's description of the guild. If nothing is new, it changes nothing.
func (a *Guilds) Describe(ctx context.Context, g id.Guild, given guild.Description) error {
	shown, err := a.archive.Describe(ctx, g, given)
	if err == nil && !shown {
		return nil
	}
	return a.changed(ctx, Manager, "describe a guild", g, err)
}

// Save replaces the settings of read, the guild as it was read, by the proposal. If the guild was edited in between,
// nothing changes and the fault wraps guild.ErrChanged. It wraps guild.ErrVanityTaken if another guild has the vanity,
// and guild.ErrSeasonClosed if the dates of a closed season would change. Saving equal settings changes nothing.
func (a *Guilds) Save(ctx context.Context, read *guild.Guild, p Proposal) (*guild.Guild, error) {
	if guild.Same(read.Settings, p.settings) {
		return read, nil
	}
	if err := p.settings.CheckHosts(a.AllowedHost); err != nil {
		return nil, err
	}
	saved, err := a.archive.UpdateGuild(ctx, p.settings, read.Edited)
	return saved, a.changed(ctx, Manager, "save settings", read.ID, err)
}

// Preview is the effect of another curve on the first members of a board. Nobody's XP changes.
type Preview struct {
	Members      []Moved // by rank; at most leaderboard.PageSize
	Higher, Less int     // how many of them would get a higher level, and how many a lower one
}

// Moved is a member with the current level and the one by the new curve.
type Moved struct {
	leaderboard.Ranked
	Before, After level.Level
}

// Preview reads the first page of the board and changes nothing.
func (a *Guilds) Preview(ctx context.Context, g *guild.Guild, curve level.Curve) (Preview, error) {
	page, err := a.board.Page(ctx, g, 1)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Members: make([]Moved, len(page.Rows))}
	for i, r := range page.Rows {
		m := Moved{Ranked: r, Before: g.Curve.LevelAt(r.XP), After: curve.LevelAt(r.XP)}
		p.Members[i] = m
		switch {
		case m.After > m.Before:
			p.Higher++
		case m.After < m.Before:
			p.Less++
		}
	}
	return p, nil
}
