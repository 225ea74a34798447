package signin

import (
	"context"
	"errors"
	"time"

	"levelboard/internal/domain/id"
)

// ErrNoSession says that there is no such session: it never was, it ended, or it was ended.
var ErrNoSession = errors.New("there is no such session")

// Hash is the SHA-256 of a session's secret, under which a store keeps it.
type Hash [32]byte

// Kept is a session as a store keeps it.
type Kept struct {
	Hash   Hash
	User   id.User
	Sealed []byte
	Ends   time.Time // when it ends at the latest
}

// Store keeps sessions, for all replicas. Every method is safe to call again when its outcome is not known.
type Store interface {
	// PutSession keeps a new session for ttl (milliseconds), and of its user's sessions the limit that end last; now decides which ended.
	PutSession(ctx context.Context, s Kept, ttl time.Duration, o PutOptions) error
	// Session returns what is sealed; ErrNoSession when there is none.
	Session(ctx context.Context, h Hash) ([]byte, error)
	// ClaimSession lets one caller among all replicas change the session, until it calls ReplaceSession or hold has passed.
	ClaimSession(ctx context.Context, h Hash, hold time.Duration) (bool, error)
	// ReplaceSession replaces it, keeps it for ttl, and gives up the claim. ErrNoSession when it was ended meanwhile.
	ReplaceSession(ctx context.Context, h Hash, sealed []byte, ttl time.Duration) error
	// EndSession ends one session of the user, if it is there.
	EndSession(ctx context.Context, user id.User, h Hash) error
	// EndSessions ends all that the user has at this moment.
	EndSessions(ctx context.Context, user id.User) error
}

// PutOptions bound what PutSession leaves of a user's sessions.
type PutOptions struct {
	Limit int
	Now   time.Time
}
