// Package guildsettings lets a guild's managers read its settings, change those that are theirs, and preview a change; and lets its bot describe the
// guild. A change is in force on this replica when Save returns, and on the others within a second. It does not check the caller, and changes no XP.
package guildsettings

import (
	"context"
	"errors"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/leaderboard"
)

// Archive is the package's store in Postgres or SQLite.
type Archive interface {
	guild.Source
	// UpdateGuild replaces the settings of a guild that was not edited since then, except for its name, icon and member count, as one atomic step, which
	// also appends to the change log. With nothing changed: guild.ErrNotFound when there is no such guild, guild.ErrChanged when it was
	// edited, guild.ErrVanityTaken when another guild has the vanity, guild.ErrSeasonClosed when the dates of a season that has
	// closed are others, guild.ErrTooLong.
	UpdateGuild(ctx context.Context, s guild.Settings, edited int64) (*guild.Guild, error)
	// Describe updates settings and directory from a description, as one atomic step, and appends to the change log if that changed the settings,
	// which it reports. With nothing changed: guild.ErrNotFound, guild.ErrTooLong.
	Describe(ctx context.Context, g id.Guild, given guild.Description) (shown bool, err error)
	// ManagedBy lists at most limit guilds whose settings name the user as owner or administrator, by id.
	ManagedBy(ctx context.Context, user id.User, limit int) ([]*guild.Guild, error)
	// Directory is empty for a guild that was never described, or is not known.
	Directory(ctx context.Context, g id.Guild) (guild.Directory, error)
}

// Board reads the members for the preview of a curve. Its errors are faults.
type Board interface {
	Page(ctx context.Context, g *guild.Guild, number int64) (leaderboard.Page, error)
}

// Settings holds the use cases. Its errors are faults. The caller checks that somebody manages the guild. It is
// safe for concurrent use.
type Settings struct {
	// AllowedHost reports whether announcements may be posted to a host by http; nil allows none.
	AllowedHost func(host string) bool

	archive  Archive
	board    Board
	announce changes.Announcer
}

// New returns the use cases.
func New(archive Archive, board Board, announce changes.Announcer) *Settings {
	return &Settings{archive: archive, board: board, announce: announce}
}

// Read reads a guild from the archive. The cache may be a second old, and a form made from it would be rejected as out of date.
func (s *Settings) Read(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	found, err := s.archive.Guild(ctx, g)
	return found, asFault("read settings", err)
}

// maxManaged bounds how many guilds ManagedBy lists.
const maxManaged = 100

// ManagedBy lists the guilds, at most maxManaged, whose settings name the user as owner or administrator.
func (s *Settings) ManagedBy(ctx context.Context, user id.User) ([]*guild.Guild, error) {
	found, err := s.archive.ManagedBy(ctx, user, maxManaged)
	return found, asFault("list the guilds of a manager", err)
}

// Free reports whether the guild g could have the vanity: nobody has it, or g itself. The answer may be out of date at
// once; only Save decides.
func (s *Settings) Free(ctx context.Context, g id.Guild, vanity string) (bool, error) {
	owner, err := s.archive.GuildByVanity(ctx, vanity)
	if errors.Is(err, guild.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, asFault("look for a vanity", err)
	}
	return owner.ID == g, nil
}

// Directory reads the roles and channels that the guild's bot described.
func (s *Settings) Directory(ctx context.Context, g id.Guild) (guild.Directory, error) {
	d, err := s.archive.Directory(ctx, g)
	return d, asFault("read a directory", err)
}

// Describe stores the bot's description of the guild. A description without news changes nothing.
func (s *Settings) Describe(ctx context.Context, g id.Guild, given guild.Description) error {
	shown, err := s.archive.Describe(ctx, g, given)
	if err != nil {
		return asFault("describe a guild", err)
	}
	if shown {
		s.announce.Announce(ctx, changes.Guild, string(g))
	}
	return nil
}

// Save replaces the guild that was read by the proposal. If another manager or the operator edited it in between, nothing changes and the fault
// wraps guild.ErrChanged; guild.ErrVanityTaken if another guild has the vanity; guild.ErrSeasonClosed if the dates of a closed season would change.
// Saving equal settings changes nothing.
func (s *Settings) Save(ctx context.Context, read *guild.Guild, p Proposal) (*guild.Guild, error) {
	if guild.Same(read.Settings, p.settings) {
		return read, nil
	}
	if err := p.settings.CheckHosts(s.AllowedHost); err != nil {
		return nil, err
	}
	saved, err := s.archive.UpdateGuild(ctx, p.settings, read.Edited)
	if err != nil {
		return nil, asFault("save settings", err)
	}
	s.announce.Announce(ctx, changes.Guild, string(saved.ID))
	return saved, nil
}

// asFault maps an archive's error. An unknown error means that the archive did not respond.
func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case fault.Is(err, fault.Invalid):
		return fault.From(err)
	case errors.Is(err, guild.ErrNotFound):
		return fault.Wrap(err, fault.NotFound, "This community is not known here. Whoever runs this service has to set it up first.")
	case errors.Is(err, guild.ErrChanged):
		return fault.Wrap(err, fault.Conflict, "These settings were saved since you opened them.")
	case errors.Is(err, guild.ErrVanityTaken):
		return fault.Wrap(err, fault.Conflict, "Another community has this short name. Choose a different one.")
	case errors.Is(err, guild.ErrSeasonClosed):
		return fault.Wrap(err, fault.Invalid, "A season that has closed keeps its dates. Set them back as they were, or remove the season; its board stays.")
	case errors.Is(err, guild.ErrTooLong):
		return fault.Wrap(err, fault.TooLarge, "With the names of these roles and channels the settings would be longer than %d bytes. Shorten the lists of multipliers and role rewards.", guild.MaxDocument)
	default:
		return fault.Down(op, err)
	}
}

// Preview is the effect of another curve on the members at the top of a board. Nobody's XP changes.
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
func (s *Settings) Preview(ctx context.Context, g *guild.Guild, curve level.Curve) (Preview, error) {
	page, err := s.board.Page(ctx, g, 1)
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
