// Package keys holds the use cases for API keys: the operator's, and users' with their own keys. A change is in force on this replica when a method
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

// MaxKeys is how many keys a user may have. Keys that the operator made for them and expired keys count; the operator may exceed it.
const MaxKeys = 25

// maxListed bounds a list; only an operator can bring a user to more than MaxKeys.
const maxListed = 1000

// Archive is the use cases' store in Postgres or SQLite. Each change also appends to the change log and to the owner's history, in one transaction.
// A key that by may not change is apikey.ErrNotFound.
type Archive interface {
	// Keys lists keys in ascending order of their ids, after the id after ("" from the start), at most limit.
	Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error)
	// OwnedKeys lists at most limit keys of a user, the newest first, with the requests of the day that ends with the hour.
	OwnedKeys(ctx context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error)
	// KeyHistory lists at most limit changes of a user's keys, the newest first, with numbers below before (0: all).
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
	// Ungrant removes the key's access to the guild, whoever granted it, also when it has none. apikey.ErrNotFound.
	Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error
	// RevokeKey removes the key and its grants. apikey.ErrNotFound.
	RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error
	// KeepGrants removes the grants that the owner gave in other guilds than these, and leaves the operator's grants. It returns the ids of the keys
	// that lost one.
	KeepGrants(ctx context.Context, owner id.User, guilds []id.Guild) ([]string, error)
}

// By is the actor of a change: the operator, or a user.
type By struct {
	apikey.Actor
	// Guilds are all guilds that a user owns or administers, as of the last answer of the provider.
	Guilds []id.Guild
}

// Operator may change every key and grant every guild.
var Operator = By{Actor: apikey.Operator}

// User may change their own keys, and grant the guilds that they own or administer.
func User(user id.User, guilds ...id.Guild) By { return By{apikey.User(user), guilds} }

// Keys holds the use cases. Its errors are faults: a rejected request, or Unavailable when the archive cannot be reached; a change may then have
// been made or not, which a list shows later. It does not authenticate by. It is safe for concurrent use.
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

// asFault maps an archive's error to a sentence for the caller. An unknown error means that the archive did not respond.
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

// History lists changes of the user's keys and their actors, the newest first, with numbers below before (0: from the newest), at most limit, which
// is 1 to 100.
func (k *Keys) History(ctx context.Context, user id.User, before int64, limit int) ([]apikey.Record, error) {
	if before < 0 || limit < 1 || limit > maxHistory {
		return nil, fault.New(fault.Invalid, "a piece of the history is 1 to %d records", maxHistory)
	}
	found, err := k.archive.KeyHistory(ctx, user, before, limit)
	return found, User(user).asFault("read the history of keys", err)
}
