package apikey

import (
	"time"

	"levelboard/internal/domain/id"
)

// Actor is the author of a change of a key: the id of the key's owner, Operator or
// Service. A user may change only their own keys; to them other keys do not exist.
type Actor string

// The actors that are not users.
const (
	Operator Actor = "operator" // the holder of the admin token
	Service  Actor = "service"  // levelboard itself, because the owner lost a right or a guild was deleted
)

// User returns the actor for a user.
func User(u id.User) Actor { return Actor(u) }

// Owner returns the user, or "" for an actor that may change any key.
func (a Actor) Owner() id.User {
	if a == Operator || a == Service {
		return ""
	}
	return id.User(a)
}

// OldSecret is a secret from before a rotation. Only its hash is stored.
type OldSecret struct {
	Hash  [32]byte
	Until time.Time // the secret stops working at this instant
}

// MaxOldSecrets is how many secrets from before rotations can work at the same time. If there are more, those that expire first stop early.
const MaxOldSecrets = 4

// Rotation gives a key another secret. The key keeps its id, grants, limits and counts.
type Rotation struct {
	Hash [32]byte // of the new secret
	Now  time.Time
	// Overlap is how long the previous secrets stay valid, unless they expire sooner. 0: they stop at once.
	Overlap time.Duration
}

// Grant is a key's access to a guild, with its author.
type Grant struct {
	GuildID id.Guild
	By      Actor
}

// Owned is a key as its owner sees it.
type Owned struct {
	Key
	Grants   []Grant    // ascending by guild
	LastUsed *time.Time // nil: no use since counting began
	Requests int64      // in the last day
}

// OldUntil returns when the last secret from before a rotation stops, or nil if none works.
func (o *Owned) OldUntil(now time.Time) (until *time.Time) {
	for _, old := range o.Old {
		if now.Before(old.Until) && (until == nil || old.Until.After(*until)) {
			until = &old.Until
		}
	}
	return until
}

// Action is a kind of change of a key.
type Action string

// The actions.
const (
	Created   Action = "created" // with the grants in GuildIDs
	Renamed   Action = "renamed"
	Rotated   Action = "rotated"
	Granted   Action = "granted"
	Ungranted Action = "revoked" // grants were removed; "revoked" is the word that the archives store
	Deleted   Action = "deleted"
)

// Record is one change of a key, as the history of its owner has it.
type Record struct {
	Number     int64 // ascending in the archive
	At         time.Time
	By         Actor
	Action     Action
	KeyID      string
	KeyName    string     // after the change
	GuildIDs   []id.Guild // for Created, Granted and Ungranted; ascending
	FormerName string     // for Renamed
	OldUntil   *time.Time // for Rotated with an overlap: when the previous secret stops
}

const (
	// HistorySize is how many records are kept for each owner: the newest ones.
	HistorySize = 1000
	// HistoryTime is the maximum time that a record is kept.
	HistoryTime = 400 * 24 * time.Hour
)

// KeyUse is how often a key was used.
type KeyUse struct {
	KeyID    string
	Requests int64
	LastUsed time.Time
}

// HourOf returns the number of hours since 1970 (UTC) for the hour that contains at.
func HourOf(at time.Time) int64 { return at.Unix() / 3600 }

// HoursOfDay is how many hours make up the last day; the current hour is one of them.
const HoursOfDay = 24
