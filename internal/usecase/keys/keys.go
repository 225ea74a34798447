// Package keys holds what the operator may do with API keys, and users with their own. A change is in force on this replica when a method
// returns, and on the others within a second; each is written to the history of the key's owner.
package keys

import (
	"context"
	"errors"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

// MaxKeys is how many keys a user may have. Those that the operator made for them and those that have expired count too;
// the operator is not held to it.
const MaxKeys = 25

// maxListed bounds a list; only an operator can bring a user to more than MaxKeys.
const maxListed = 1000

// Archive is what is needed of Postgres or SQLite. Each change also appends to the change log and to the owner's history,
// in one transaction. A key that by may not change is apikey.ErrNotFound.
type Archive interface {
	// Keys lists keys in ascending order of their ids, after the id after ("" from the start), at most limit.
	Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error)
	// OwnedKeys lists a user's keys, the newest first, at most limit; what was requested in the last day, up to the hour, is
	// counted by the hour.
	OwnedKeys(ctx context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error)
	// KeyHistory lists what was done to a user's keys, the newest first, with numbers below before (0: all), at most limit.
	KeyHistory(ctx context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error)
	// CreateKey stores a key with its grants; times are kept to the millisecond. With nothing changed, it returns
	// apikey.ErrTooMany when the owner has atMost keys already (0: any number), and guild.ErrNotFound when a granted guild does
	// not exist. Counting and creating are one atomic step.
	CreateKey(ctx context.Context, k apikey.Key, by apikey.Actor, atMost int) error
	// RenameKey gives the key another name. apikey.ErrNotFound.
	RenameKey(ctx context.Context, keyID, name string, by apikey.Actor) error
	// RotateKey gives the key another secret. Repeating a rotation changes nothing. apikey.ErrNotFound or apikey.ErrExpired.
	RotateKey(ctx context.Context, keyID string, r apikey.Rotation, by apikey.Actor) error
	// Grant gives the key access to the guild, also when it has it. A grant of the operator stays the operator's when a user
	// repeats it, and one of a user becomes the operator's. apikey.ErrNotFound or guild.ErrNotFound.
	Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error
	// Ungrant takes the key's access to the guild away, whoever granted it, also when it has none. apikey.ErrNotFound.
	Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error
	// RevokeKey removes the key and its grants. apikey.ErrNotFound.
	RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error
	// KeepGrants takes away what the owner granted their keys in other guilds than these, and leaves the operator's grants. It
	// returns the ids of the keys that lost one.
	KeepGrants(ctx context.Context, owner id.User, guilds []id.Guild) ([]string, error)
}

// By is who makes a change: the operator, or a user.
type By struct {
	apikey.Actor
	// Guilds are those that a user owns or administers, all of them, as sign-in last heard.
	Guilds []id.Guild
}

// Operator may change every key and grant every guild.
var Operator = By{Actor: apikey.Operator}

// User may change their own keys, and grant the guilds that they own or administer.
func User(user id.User, guilds ...id.Guild) By { return By{apikey.User(user), guilds} }

// Keys holds the use cases. Its errors are faults: what somebody asked for and may not have, or Unavailable when the archive cannot be
// reached; a change may then have been made or not, which a list shows once it can be read. It does not check that by is who sent the
// request. It is safe for concurrent use.
type Keys struct {
	archive  Archive
	announce changes.Announcer
	now      func() time.Time
}

// New returns the use cases; now is the clock for creation, expiry and overlaps.
func New(archive Archive, announce changes.Announcer, now func() time.Time) *Keys {
	return &Keys{archive: archive, announce: announce, now: now}
}

// changed announces a change that was made, or says why it was not.
func (k *Keys) changed(ctx context.Context, by By, op, keyID string, err error) error {
	if err != nil {
		return by.asFault(op, err)
	}
	k.announce.Announce(ctx, changes.Key, keyID)
	return nil
}

// asFault maps what an archive answers, in words for who asked. Every other error means that it could not be asked.
func (by By) asFault(op string, err error) error {
	words := sentencesOfUser
	if by.Actor == apikey.Operator {
		words = sentencesOfOperator
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, apikey.ErrNotFound):
		return fault.Wrap(err, fault.NotFound, "%s", words.noKey)
	case errors.Is(err, guild.ErrNotFound):
		return fault.Wrap(err, fault.NotFound, "This guild is not known here. %s", words.noGuild)
	case errors.Is(err, apikey.ErrTooMany):
		return fault.Wrap(err, fault.Conflict, "You have %d keys, which is as many as you may have. Delete one that you do not need.", MaxKeys)
	case errors.Is(err, apikey.ErrExpired):
		return fault.Wrap(err, fault.Conflict, "This key has expired. Make a new one.")
	default:
		return fault.Down(op, err)
	}
}

type sentences struct{ noKey, noGuild string }

var (
	sentencesOfOperator = sentences{
		noKey:   "There is no key with this id. It may have been revoked; 'levelboard key list' lists those that there are.",
		noGuild: "Create it first, for example with 'levelboard guild apply'.",
	}
	sentencesOfUser = sentences{
		noKey:   "You have no key with this id. It may have been deleted.",
		noGuild: "Ask whoever runs this service to add it.",
	}
)

// All lists keys in ascending order of their ids, after the id after ("" from the start), at most limit.
func (k *Keys) All(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	found, err := k.archive.Keys(ctx, after, limit)
	return found, Operator.asFault("list keys", err)
}

// Owned lists the user's keys, the newest first, those included that the operator made for them. The counts of requests are up to a minute late.
func (k *Keys) Owned(ctx context.Context, user id.User) ([]apikey.Owned, error) {
	found, err := k.archive.OwnedKeys(ctx, user, apikey.HourOf(k.now()), maxListed)
	return found, User(user).asFault("list a user's keys", err)
}

// maxHistory is how many records one call of History returns at most.
const maxHistory = 100

// History lists what was done to the user's keys and by whom, the newest first, with numbers below before (0: from the
// newest), at most limit, which is 1 to 100.
func (k *Keys) History(ctx context.Context, user id.User, before int64, limit int) ([]apikey.Record, error) {
	if before < 0 || limit < 1 || limit > maxHistory {
		return nil, fault.New(fault.Invalid, "a piece of the history is 1 to %d records", maxHistory)
	}
	found, err := k.archive.KeyHistory(ctx, user, before, limit)
	return found, User(user).asFault("read the history of keys", err)
}
