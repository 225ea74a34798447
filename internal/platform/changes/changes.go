// Package changes carries changes of guilds and keys to every replica. Each change of a guild or a key gets the next
// number of one log in the archive, in the same transaction; every replica follows the log and forgets what it had cached
// of the subject. A message on the live store only says "look now"; that it is lost does no harm.
package changes

import "context"

// Kind says what a change was about.
type Kind string

// The kinds.
const (
	Guild Kind = "guild" // Subject is the guild's id
	Key   Kind = "key"   // Subject is the key's id
)

// Change is one entry of the log.
type Change struct {
	Version int64 // 1, 2, 3, ... in the order of commits, without gaps
	Kind    Kind
	Subject string
}

// Announcer makes committed changes known: here before it returns, to the other replicas soon after.
type Announcer interface {
	Announce(ctx context.Context, kind Kind, subject string)
}
