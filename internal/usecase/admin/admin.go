// Package admin holds what the operator may do: guilds with their settings, and API keys with their grants. A change is in force on this
// replica when a method returns, and on the others within a second. It does not check the caller.
package admin

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Archive is what is needed of Postgres or SQLite. Each change also appends to the change log, and each change of
// a key to its owner's history, in one transaction.
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
	// Directory is as in guildsettings.Archive.
	Directory(ctx context.Context, g id.Guild) (guild.Directory, error)
	// DeleteGuild removes the guild, its directory and every grant of it, and leaves its members to Purge; from now on they cannot be read.
	// It returns the guild as it was; guild.ErrNotFound when there is none.
	DeleteGuild(ctx context.Context, g id.Guild) (*guild.Guild, error)
	// Deleted and Purge are as in snapshot.Archive.
	Deleted(ctx context.Context, limit int) ([]leaderboard.GuildRef, error)
	Purge(ctx context.Context, limit int, keep snapshot.Keep) (int, error)

	// Keys lists keys in ascending order of their ids, after the id after ("" from the start), at most limit.
	Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error)
	// CreateKey stores a key with its grants; times are kept to the millisecond. With nothing changed, it returns
	// apikey.ErrTooMany when the owner has atMost keys already (0: any number), and guild.ErrNotFound when a granted guild does
	// not exist. Counting and creating are one atomic step.
	CreateKey(ctx context.Context, k apikey.Key, by apikey.Actor, atMost int) error
	// Grant gives the key access to the guild, also when it has it. A grant of the operator stays the operator's when a user
	// repeats it, and one of a user becomes the operator's. apikey.ErrNotFound, also when by is a user and another one owns the
	// key, or guild.ErrNotFound.
	Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error
	// Ungrant takes the key's access to the guild away, whoever granted it, also when it has none. apikey.ErrNotFound as Grant.
	Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error
	// RevokeKey removes the key and its grants. apikey.ErrNotFound as Grant.
	RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error
}

// Live is where a deleted guild's members have to leave.
type Live interface {
	Drop(ctx context.Context, g leaderboard.GuildRef) error
}

// Admin holds the use cases. Its errors are faults. It is safe for concurrent use.
type Admin struct {
	archive  Archive
	live     Live
	announce changes.Announcer
	log      *slog.Logger
	now      func() time.Time
}

// New returns the use cases; now is the clock for the creation time of keys.
func New(archive Archive, live Live, announce changes.Announcer, log *slog.Logger, now func() time.Time) *Admin {
	return &Admin{archive: archive, live: live, announce: announce, log: log, now: now}
}

// asFault maps what an archive answers. Every other error means that it could not be asked.
func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, guild.ErrNotFound):
		return fault.Wrap(err, fault.NotFound, "This guild is not known here. Create it first, for example with 'levelboard guild apply'.")
	case errors.Is(err, apikey.ErrNotFound):
		return fault.Wrap(err, fault.NotFound, "There is no key with this id. It may have been revoked; 'levelboard key list' lists those that there are.")
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

// CreateKey makes a key. The secret is in the answer and nowhere else, ever. The operator may make any number
// of keys for an owner.
func (a *Admin) CreateKey(ctx context.Context, n apikey.NewKey) (secret string, k apikey.Key, err error) {
	secret, keyID, hash, err := apikey.Mint()
	if err != nil {
		return "", apikey.Key{}, fault.From(err)
	}
	k = apikey.Key{
		ID: keyID, Hash: hash, Name: n.Name, OwnerID: n.OwnerID, Permission: n.Permission, GuildIDs: n.GuildIDs,
		CreatedAt: a.now().UTC().Truncate(time.Millisecond), ExpiresAt: n.ExpiresAt, RateLimit: n.RateLimit,
	}
	if err := a.archive.CreateKey(ctx, k, apikey.Operator, 0); err != nil {
		return "", apikey.Key{}, asFault("create a key", err)
	}
	a.announce.Announce(ctx, changes.Key, k.ID)
	return secret, k, nil
}

// Keys lists keys in ascending order of their ids, after the id after ("" from the start), at most limit.
func (a *Admin) Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	found, err := a.archive.Keys(ctx, after, limit)
	return found, asFault("list keys", err)
}

// Grant gives the key access to the guild.
func (a *Admin) Grant(ctx context.Context, keyID string, g id.Guild) error {
	return a.announced(ctx, "grant a guild", keyID, a.archive.Grant(ctx, keyID, g, apikey.Operator))
}

// Ungrant takes the key's access to the guild away.
func (a *Admin) Ungrant(ctx context.Context, keyID string, g id.Guild) error {
	return a.announced(ctx, "take a grant away", keyID, a.archive.Ungrant(ctx, keyID, g, apikey.Operator))
}

// Revoke removes the key for ever.
func (a *Admin) Revoke(ctx context.Context, keyID string) error {
	return a.announced(ctx, "revoke a key", keyID, a.archive.RevokeKey(ctx, keyID, apikey.Operator))
}

func (a *Admin) announced(ctx context.Context, op, keyID string, err error) error {
	if err != nil {
		return asFault(op, err)
	}
	a.announce.Announce(ctx, changes.Key, keyID)
	return nil
}
