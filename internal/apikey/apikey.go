// Package apikey mints, parses, judges and meters API keys. A key is a secret that its owner made; the archive holds only
// its SHA-256 hash.
package apikey

import (
	"time"

	"levelboard/internal/id"
)

// Permission is what a key may do in the guilds that it was granted.
type Permission string

// The permissions.
const (
	Read      Permission = "read"
	ReadWrite Permission = "read_write"
)

// Key is a key as the archive holds it: everything but the secret.
type Key struct {
	ID         string // 12 letters and digits, part of the secret's text
	Hash       [32]byte
	Old        []OldSecret // that work beside it for a while, after rotations; in no order
	Name       string
	OwnerID    id.User
	Permission Permission
	GuildIDs   []id.Guild // its grants, ascending
	CreatedAt  time.Time
	ExpiresAt  *time.Time // nil: never
	RateLimit  *int       // requests a minute; nil: the service's default; 0: no limit of its own
}
