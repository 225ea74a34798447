// Package keys holds the use cases for API keys: those of the operator, and those of users for their own keys. When a method returns,
// its change is in force on this replica; the others follow within a second. The history of the key's owner records each change.
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

// MaxKeys is how many keys a user may make. Expired keys count, and keys that the operator made for them; the operator may exceed it.
const MaxKeys = 25

// maxListed bounds a list. Only the operator can bring a user above MaxKeys.
const maxListed = 1000

// Archive is what the use cases need of Postgres or SQLite. Each change is one transaction, which also appends
// to the change log and to the owner's history. For a key that by may not change, it returns apikey.ErrNotFound.
type Archive interface {
	// Keys lists at most limit keys in ascending order of their ids, from the first id above after ("" from the start).
	Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error)
	// OwnedKeys lists at most limit keys of a user, newest first. Their requests are those of the day that ends with the hour.
	OwnedKeys(ctx context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error)
	// KeyHistory lists at most limit changes of a user's keys, newest first, with numbers below before (0: all).
	KeyHistory(ctx context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error)
	// CreateKey stores a key with its grants; times are truncated to the millisecond. It returns
	// apikey.ErrTooMany if the owner already has atMost keys (0: no bound), and guild.ErrNotFound if a
	// granted guild does not exist; then nothing has changed. Counting and creating are one atomic step.
	CreateKey(ctx context.Context, k apikey.Key, by apikey.Actor, atMost int) error
	// RenameKey changes the key's name. It returns apikey.ErrNotFound.
	RenameKey(ctx context.Context, keyID, name string, by apikey.Actor) error
	// RotateKey gives the key another secret. A repeated rotation changes nothing. It returns apikey.ErrNotFound or apikey.ErrExpired.
	RotateKey(ctx context.Context, keyID string, r apikey.Rotation, by apikey.Actor) error
	// Grant gives the key access to the guild; it is no error if the key has it. A user's grant does not replace
	// the operator's, but the operator's replaces a user's. It returns apikey.ErrNotFound or guild.ErrNotFound.
	Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error
	// Ungrant removes the key's access to the guild, whoever granted it; it is no error if there is none. It returns apikey.ErrNotFound.
	Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error
	// RevokeKey removes the key and its grants. It returns apikey.ErrNotFound.
	RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error
	// KeepGrants removes the owner's grants in all other guilds than these. The
	// operator's grants stay. It returns the ids of the keys that lost a grant.
	KeepGrants(ctx context.Context, owner id.User, guilds []id.Guild) ([]string, error)
}

// By is the actor of a change: the operator, or a user.
type By struct {
	apikey.Actor
	// Guilds are all guilds that a user owns or administers, by the provider's last answer.
	Guilds []id.Guild
}

// Operator may change every key and grant every guild.
var Operator = By{Actor: apikey.Operator}

// User may change their own keys, and grant the guilds that they own or administer.
func User(user id.User, guilds ...id.Guild) By { return By{apikey.User(user), guilds} }

// Keys holds the use cases. Its errors are faults: the request is rejected, or the fault is Unavailable because the archive did not respond.
// In the latter case the change may have happened; a list shows it later. Keys does not authenticate by. It is safe for concurrent use.
type Keys struct {
	archive  Archive
	announce changes.Announcer
	now      func() time.Time
}

// New returns the use cases; now is the clock for creation, expiry and overlaps.
func New(archive Archive, announce changes.Announcer, now func() time.Time) *Keys {
	return &Keys{archive: archive, announce: announce, now: now}
}

// changed announces a change, or turns err into a fault.
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

// All lists at most limit keys in ascending order of their ids, from the first id above after ("" from the start).
func (k *Keys) All(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	found, err := k.archive.Keys(ctx, after, limit)
	return found, Operator.asFault("list keys", err)
}

// Owned lists the user's keys, newest first, including those that the operator made for them. The counts of requests are up to a minute late.
func (k *Keys) Owned(ctx context.Context, user id.User) ([]apikey.Owned, error) {
	found, err := k.archive.OwnedKeys(ctx, user, apikey.HourOf(k.now()), maxListed)
	return found, User(user).asFault("list a user's keys", err)
}

// maxHistory is the maximum number of records in one call of History.
const maxHistory = 100

// History lists changes of the user's keys and their actors, newest first,
// with numbers below before (0: from the newest). limit is 1 to 100 records.
func (k *Keys) History(ctx context.Context, user id.User, before int64, limit int) ([]apikey.Record, error) {
	if before < 0 || limit < 1 || limit > maxHistory {
		return nil, fault.New(fault.Invalid, "a piece of the history is 1 to %d records", maxHistory)
	}
	found, err := k.archive.KeyHistory(ctx, user, before, limit)
	return found, User(user).asFault("read the history of keys", err)
}
