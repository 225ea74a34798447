// Package apikey mints, parses, judges and meters API keys. A key is a secret that its owner made; the archive holds only
// its SHA-256 hash.
package apikey

import "fmt"

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
