package apikey

import (
	"time"

	"levelboard/internal/domain/id"
)

// Actor is the author of a change of a key: the id of the user who owns it, Operator or Service. A user may change only their own keys; for them
// other keys do not exist.
type Actor string

// The actors that are not users.
const (
	Operator Actor = "operator" // the holder of the admin token
	Service  Actor = "service"  // levelboard itself, because a right was lost or a guild is gone
)

// User is the actor that a user is.
func User(u id.User) Actor { return Actor(u) }

// Owner is the user that the actor is, or empty when they may change any key.
func (a Actor) Owner() id.User {
	if a == Operator || a == Service {
		return ""
	}
	return id.User(a)
}

// OldSecret is a secret from before a rotation. Like the secret itself it is kept as a hash only.
type OldSecret struct {
	Hash  [32]byte
	Until time.Time // it works before this instant
}

// MaxOldSecrets is how many secrets from before rotations can work at the same time; the ones that end soonest stop first.
const MaxOldSecrets = 4

// Rotation gives a key another secret. The key keeps its id, and with it grants, limits and counts.
type Rotation struct {
	Hash [32]byte // of the new secret
	Now  time.Time
	// Overlap is how long the previous secrets stay valid; each stops then or when it would have anyway. 0: at once.
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
	LastUsed *time.Time // nil: not since requests are counted
	Requests int64      // in the last day
}

// OldUntil is when the last secret from before a rotation stops; nil when none works.
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
	Ungranted Action = "revoked" // grants were removed; the archives keep the word
	Deleted   Action = "deleted"
)

// Record is one change of a key, in the history of its owner.
type Record struct {
	Number     int64 // rises with every record of the archive
	At         time.Time
	By         Actor
	Action     Action
	KeyID      string
	KeyName    string     // after the change
	GuildIDs   []id.Guild // of Created, Granted and Ungranted, ascending
	FormerName string     // of Renamed
	OldUntil   *time.Time // of Rotated with an overlap: when the secret from before stops
}

const (
	// HistorySize is how many records are kept for each owner, the newest.
	HistorySize = 1000
	// HistoryTime is how long a record is kept at most.
	HistoryTime = 400 * 24 * time.Hour
)

// KeyUse is how often a key was used.
type KeyUse struct {
	KeyID    string
	Requests int64
	LastUsed time.Time
}

// HourOf is the number of the hour that at is in, since 1970 (UTC).
func HourOf(at time.Time) int64 { return at.Unix() / 3600 }

// HoursOfDay is how many hours, the one under way included, make up the last day.
const HoursOfDay = 24
