// Package guilds holds what the operator may do with guilds and their settings. A change is in force on this replica when a method returns, and
// on the others within a second. It does not check the caller.
package guilds

import (
	"context"
	"errors"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

// Archive is what is needed of Postgres or SQLite. Each change also appends to the change log, in one transaction.
type Archive interface {
	// Guild is as in guild.Source.
	Guild(ctx context.Context, g id.Guild) (*guild.Guild, error)
	// Guilds lists guilds in ascending order of their ids, after the id after ("" from the start), at most limit.
	Guilds(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error)
	// PutGuild creates the guild, with a new incarnation and no members, or replaces the settings and nothing else: the directory stays, and its names
	// stand in the settings. guild.ErrTooLong, with nothing changed, when they are too long with those.
	// guild.ErrVanityTaken, with nothing changed, when another guild has the vanity; guild.ErrSeasonClosed, with nothing changed, when the
	// dates of a season that has closed are others.
	PutGuild(ctx context.Context, s guild.Settings) (g *guild.Guild, created bool, err error)
	// ChangeGuild puts the properties of the change in place, as one atomic step. With nothing changed: guild.ErrNotFound, the errors of PutGuild, and the
	// faults of guild.Change.
	ChangeGuild(ctx context.Context, g id.Guild, change guild.Change) (*guild.Guild, error)
	// Directory is as in guildsettings.Archive.
	Directory(ctx context.Context, g id.Guild) (guild.Directory, error)
	// DeleteGuild removes the guild, its directory and every grant of it, and leaves its members to Purge; from now on they cannot be read.
	// It returns the guild as it was; guild.ErrNotFound when there is none.
	DeleteGuild(ctx context.Context, g id.Guild) (*guild.Guild, error)
}

// Guilds holds the use cases. Its errors are faults. It is safe for concurrent use.
type Guilds struct {
	// AllowedHost is as in guildsettings.Settings.
	AllowedHost func(host string) bool

	archive  Archive
	announce changes.Announcer
}

// New returns the use cases.
func New(archive Archive, announce changes.Announcer) *Guilds {
	return &Guilds{archive: archive, announce: announce}
}

// asFault maps what an archive answers. Every other error means that it could not be asked.
func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case !fault.Is(err, fault.Internal): // of guild.Change
		return fault.From(err)
	case errors.Is(err, guild.ErrNotFound):
		return fault.Wrap(err, fault.NotFound, "This guild is not known here. Create it first, for example with 'levelboard guild apply'.")
	case errors.Is(err, guild.ErrVanityTaken):
		return fault.Wrap(err, fault.Conflict, "Another guild has this vanity. Choose a different one.")
	case errors.Is(err, guild.ErrSeasonClosed):
		return fault.Wrap(err, fault.Invalid, "A season that has closed keeps its dates. Set them back as they were, or take the season out of seasons, which keeps its board.")
	case errors.Is(err, guild.ErrTooLong):
		return fault.Wrap(err, fault.TooLarge, "With the names that the guild's bot gave its roles and channels the settings are longer than %d bytes. Shorten the lists.", guild.MaxDocument)
	default:
		return fault.Down(op, err)
	}
}
