// Package guildsettings holds what a guild's managers may do with its settings: read them, change those that are theirs to change, and see
// beforehand what a change does; and its bot, which describes the guild. A change is in force on this replica when Save returns, and on the others within a second. It does not
// check the caller, and changes no XP.
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

// Archive is what is needed of Postgres or SQLite.
type Archive interface {
	guild.Source
	// UpdateGuild replaces the settings of a guild that was not edited since then, except for its name, icon and member count, as one atomic step, which
	// also appends to the change log. With nothing changed: guild.ErrNotFound when there is no such guild, guild.ErrChanged when it was
	// edited, guild.ErrVanityTaken when another guild has the vanity, guild.ErrSeasonClosed when the dates of a season that has
	// closed are others, guild.ErrTooLong.
	UpdateGuild(ctx context.Context, s guild.Settings, edited int64) (*guild.Guild, error)
	// Describe puts what is given in place, in the settings and in the directory, as one atomic step, and appends to the change log when that
	// changed the settings, which it reports. With nothing changed: guild.ErrNotFound, guild.ErrTooLong.
	Describe(ctx context.Context, g id.Guild, given guild.Description) (shown bool, err error)
	// ManagedBy lists at most limit guilds whose settings name the user as owner or administrator, by id.
	ManagedBy(ctx context.Context, user id.User, limit int) ([]*guild.Guild, error)
	// Directory is empty for a guild that was never described, or is not known.
	Directory(ctx context.Context, g id.Guild) (guild.Directory, error)
}

// Board is where the members are whom a change of the curve is shown on. Its errors are faults.
type Board interface {
	Page(ctx context.Context, g *guild.Guild, number int64, known leaderboard.Digest) (leaderboard.Page, error)
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

// Read reads a guild from the archive: what is in memory may be a second old, and a form that is made of that would be
// refused as out of date.
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

// Describe keeps what the guild's bot says of it. A description that says what is known already changes nothing.
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

// Save puts what Propose made of the guild read in its place. When the guild was edited in between, by another manager or by
// the operator, nothing is changed and the fault wraps guild.ErrChanged; when another guild has the vanity, guild.ErrVanityTaken;
// when the dates of a season that has closed would change, guild.ErrSeasonClosed.
// To save what is there already changes nothing and is no change for anybody.
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

// asFault maps what an archive answers. Every other error means that it could not be asked.
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

// Preview is what another curve would do to the members at the top of a board. Nobody's XP changes.
type Preview struct {
	Members      []Moved // by rank; at most leaderboard.PageSize
	Higher, Less int     // how many of them would get a higher level, and how many a lower one
}

// Moved is a member with the level that they have and the one that they would have.
type Moved struct {
	leaderboard.Ranked
	Before, After level.Level
}

// Preview reads the first page of the board and changes nothing.
func (s *Settings) Preview(ctx context.Context, g *guild.Guild, curve level.Curve) (Preview, error) {
	page, err := s.board.Page(ctx, g, 1, leaderboard.Digest{})
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
