// Package apikey mints, parses, checks and meters API keys. A key is a secret that its owner made; the
// archive holds only its SHA-256 hash. The package stores nothing; a Cache reads keys through an interface.
package apikey

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"levelboard/internal/domain/id"
)

// Permission is what a key may do in the guilds that it was granted.
type Permission string

// The permissions.
const (
	Read      Permission = "read"
	ReadWrite Permission = "read_write"
)

// ParsePermission reads the name of a permission, as the admin API and the archive write it.
func ParsePermission(name string) (Permission, error) {
	switch p := Permission(name); p {
	case Read, ReadWrite:
		return p, nil
	default:
		return "", fmt.Errorf("must be %s or %s", Read, ReadWrite)
	}
}

var (
	// ErrNotFound is an archive's answer for a key that never existed or was revoked.
	ErrNotFound = errors.New("no such API key")
	// ErrTooMany says that the owner has the maximum number of keys.
	ErrTooMany = errors.New("the owner has too many API keys")
	// ErrExpired says that a key has expired.
	ErrExpired = errors.New("the API key has expired")
	// errMalformed says that a text cannot be a key, so that no store need be asked. It does not quote the text.
	errMalformed = errors.New("not the text of an API key")
)

// Key is a key as the archive holds it and as the operator sees it: everything but the secret.
type Key struct {
	GuildIDs   []id.Guild  `json:"guildIds"` // its grants, ascending
	ID         string      `json:"id"`       // 12 letters and digits, part of the secret's text
	Name       string      `json:"name"`
	OwnerID    id.User     `json:"ownerId"`
	Permission Permission  `json:"permission"`
	RateLimit  *int        `json:"rateLimit"` // requests a minute; nil: the service's default; 0: no limit for this key alone
	CreatedAt  time.Time   `json:"-"`
	ExpiresAt  *time.Time  `json:"-"` // nil: never
	Hash       [32]byte    `json:"-"`
	Old        []OldSecret `json:"-"` // secrets from before rotations that still work; in no order
}

// Matches reports whether secret is this key's whole text, now or from before a
// rotation whose overlap still runs. The time it takes tells nothing about a hash.
func (k *Key) Matches(secret string, now time.Time) bool {
	var room [textLen]byte // room for a key's text, to avoid an allocation
	hash := sha256.Sum256(append(room[:0], secret...))
	equal := subtle.ConstantTimeCompare(hash[:], k.Hash[:])
	for i := range k.Old {
		if now.Before(k.Old[i].Until) {
			equal |= subtle.ConstantTimeCompare(hash[:], k.Old[i].Hash[:])
		}
	}
	return equal == 1
}

// Expired reports whether the key has expired; it has from the instant ExpiresAt on.
func (k *Key) Expired(now time.Time) bool {
	return k.ExpiresAt != nil && !now.Before(*k.ExpiresAt)
}

// May reports whether the key's permission covers requests with this method in its guilds.
func (k *Key) May(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead:
		return k.Permission == Read || k.Permission == ReadWrite
	default:
		return k.Permission == ReadWrite
	}
}

// Granted reports whether the key has access to the guild. GuildIDs must be ascending.
func (k *Key) Granted(g id.Guild) bool {
	_, found := slices.BinarySearch(k.GuildIDs, g)
	return found
}
