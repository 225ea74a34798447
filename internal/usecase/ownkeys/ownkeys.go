// Package ownkeys holds what a signed-in user may do with their own API keys. A change is in force on this replica when a method returns,
// and on the others within a second; each is written to the user's history. Signing in is package signin's.
package ownkeys

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
// in one transaction. A key that by does not own is apikey.ErrNotFound.
type Archive interface {
	// OwnedKeys lists a user's keys, the newest first, at most limit; what was requested in the last day, up to the hour, is
	// counted by the hour.
	OwnedKeys(ctx context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error)
	// KeyHistory lists what was done to a user's keys, the newest first, with numbers below before (0: all), at most limit.
	KeyHistory(ctx context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error)
	// RenameKey gives the key another name. apikey.ErrNotFound.
	RenameKey(ctx context.Context, keyID, name string, by apikey.Actor) error
	// RotateKey gives the key another secret. Repeating a rotation changes nothing. apikey.ErrNotFound or apikey.ErrExpired.
	RotateKey(ctx context.Context, keyID string, r apikey.Rotation, by apikey.Actor) error
	// KeepGrants takes away what the owner granted their keys in other guilds than these, and leaves the operator's grants. It
	// returns the ids of the keys that lost one.
	KeepGrants(ctx context.Context, owner id.User, guilds []id.Guild) ([]string, error)

	// CreateKey, Grant, Ungrant and RevokeKey are as in admin.Archive.
	CreateKey(ctx context.Context, k apikey.Key, by apikey.Actor, atMost int) error
	Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error
	Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error
	RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error
}

// User is who is signed in.
type User struct {
	ID id.User
	// Guilds are those that they own or administer, all of them, as sign-in last heard.
	Guilds []id.Guild
}

// Profile holds the use cases. Its errors are faults: what the user asked for and may not have, or Unavailable when the
// archive cannot be reached; a change may then have been made or not, which the list of keys shows once it can be read.
// A key that is not the user's is NotFound, as one that does not exist. It is safe for concurrent use.
type Profile struct {
	archive  Archive
	announce changes.Announcer
	now      func() time.Time
}

// New returns the use cases; now is the clock for creation, expiry and overlaps.
func New(archive Archive, announce changes.Announcer, now func() time.Time) *Profile {
	return &Profile{archive: archive, announce: announce, now: now}
}

// changed announces a change that was made, or says why it was not.
func (p *Profile) changed(ctx context.Context, op, keyID string, err error) error {
	if err != nil {
		return asFault(op, err)
	}
	p.announce.Announce(ctx, changes.Key, keyID)
	return nil
}

// asFault maps what an archive answers. Every other error means that it could not be asked.
func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, apikey.ErrNotFound):
		return fault.Wrap(err, fault.NotFound, "You have no key with this id. It may have been deleted.")
	case errors.Is(err, guild.ErrNotFound):
		return fault.Wrap(err, fault.NotFound, "This guild is not known here. Ask whoever runs this service to add it.")
	case errors.Is(err, apikey.ErrTooMany):
		return fault.Wrap(err, fault.Conflict, "You have %d keys, which is as many as you may have. Delete one that you do not need.", MaxKeys)
	case errors.Is(err, apikey.ErrExpired):
		return fault.Wrap(err, fault.Conflict, "This key has expired. Make a new one.")
	default:
		return fault.Down(op, err)
	}
}
