// Package guilds lets the operator create, change and delete guilds, lets managers change and preview some
// of the settings, and lets a guild's bot describe the guild. When a method returns, its change is in force
// on this replica; the others follow within a second. It does not check the caller, and changes no XP.
package guilds

import (
	"context"
	"errors"
	"fmt"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/leaderboard"
)

// Archive is what the package needs of Postgres or SQLite. Each change is one transaction, which also appends to the change log. If it
// returns an error, nothing has changed: guild.ErrNotFound, guild.ErrVanityTaken if another guild has the vanity, guild.ErrSeasonClosed
// if the dates of a closed season would change, or guild.ErrTooLong if the settings with the directory's names would be too long.
type Archive interface {
	guild.Source
	// Guilds lists at most limit guilds in ascending order of their ids, from the first id above after ("" from the start).
	Guilds(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error)
	// ManagedBy lists at most limit guilds whose settings name the user as owner or administrator, by id.
	ManagedBy(ctx context.Context, user id.User, limit int) ([]*guild.Guild, error)
	// PutGuild creates the guild, with a new incarnation and no members, or
	// replaces its settings. The directory stays, and the settings get its names.
	PutGuild(ctx context.Context, s guild.Settings) (g *guild.Guild, created bool, err error)
	// ChangeGuild replaces the properties of the change. It may also return the faults of guild.Change.
	ChangeGuild(ctx context.Context, g id.Guild, change guild.Change) (*guild.Guild, error)
	// UpdateGuild replaces the settings, except name, icon and member count. It
	// returns guild.ErrChanged if the guild was edited after the change number edited.
	UpdateGuild(ctx context.Context, s guild.Settings, edited int64) (*guild.Guild, error)
	// Directory is empty for a guild that is unknown or was never described.
	Directory(ctx context.Context, g id.Guild) (guild.Directory, error)
	// Describe updates settings and directory from a description. shown reports
	// whether that changed the settings; only then it appends to the change log.
	Describe(ctx context.Context, g id.Guild, given guild.Description) (shown bool, err error)
	// DeleteGuild removes the guild, its directory and all grants of it. It leaves its
	// members to Purge; they cannot be read any more. It returns the guild as it was.
	DeleteGuild(ctx context.Context, g id.Guild) (*guild.Guild, error)
}

// Board reads members for the preview of a curve. Its errors are faults.
type Board interface {
	Page(ctx context.Context, g *guild.Guild, number int64) (leaderboard.Page, error)
}

// Guilds holds the use cases. Its errors are faults. It is safe for concurrent use.
type Guilds struct {
	// AllowedHost reports whether announcements may be posted to a host by plain http; nil allows none.
	AllowedHost func(host string) bool

	archive  Archive
	board    Board
	announce changes.Announcer
}

// New returns the use cases.
func New(archive Archive, board Board, announce changes.Announcer) *Guilds {
	return &Guilds{archive: archive, board: board, announce: announce}
}

// Actor is the kind of user for whom a use case works. It decides the words of errors.
type Actor int

// The actors. A guild's bot gets the errors for managers.
const (
	Operator Actor = iota
	Manager
)

// Read reads a guild from the archive, since the cache may be a second old: a form made from it could be rejected as out of date.
func (a *Guilds) Read(ctx context.Context, by Actor, g id.Guild) (*guild.Guild, error) {
	found, err := a.archive.Guild(ctx, g)
	return found, by.asFault("read a guild", err)
}

// changed announces a change, or turns err into a fault.
func (a *Guilds) changed(ctx context.Context, by Actor, op string, g id.Guild, err error) error {
	if err != nil {
		return by.asFault(op, err)
	}
	a.announce.Announce(ctx, changes.Guild, string(g))
	return nil
}

// refusals are the errors with which an archive rejects a change, with a sentence for each Actor.
var refusals = []struct {
	is        error
	code      fault.Code
	sentences [2]string
}{
	{guild.ErrNotFound, fault.NotFound, [2]string{
		"This guild is not known here. Create it first, for example with 'levelboard guild apply'.",
		"This community is not known here. Whoever runs this service has to set it up first.",
	}},
	{guild.ErrChanged, fault.Conflict, [2]string{Manager: "These settings were saved since you opened them."}},
	{guild.ErrVanityTaken, fault.Conflict, [2]string{
		"Another guild has this vanity. Choose a different one.",
		"Another community has this short name. Choose a different one.",
	}},
	{guild.ErrSeasonClosed, fault.Invalid, [2]string{
		"A season that has closed keeps its dates. Set them back as they were, or take the season out of seasons, which keeps its board.",
		"A season that has closed keeps its dates. Set them back as they were, or remove the season; its board stays.",
	}},
	{guild.ErrTooLong, fault.TooLarge, [2]string{
		fmt.Sprintf("With the names that the guild's bot gave its roles and channels the settings are longer than %d bytes. Shorten the lists.", guild.MaxDocument),
		fmt.Sprintf("With the names of these roles and channels the settings would be longer than %d bytes. Shorten the lists of multipliers and role rewards.", guild.MaxDocument),
	}},
}

// asFault maps an archive's error. An unknown error means that the archive did not respond.
func (by Actor) asFault(op string, err error) error {
	if err == nil {
		return nil
	}
	for _, r := range refusals {
		if errors.Is(err, r.is) {
			return fault.Wrap(err, r.code, "%s", r.sentences[by])
		}
	}
	if f := fault.From(err); f.Code != fault.Internal { // from guild.Change
		return f
	}
	return fault.Down(op, err)
}
