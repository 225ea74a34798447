// Package id holds the identifiers of guilds, users, roles and channels. Each is a snowflake (API
// document, "Snowflake"): 17 to 19 decimal digits, the first not 0. One type for each kind keeps them
// from being mixed up. A value is valid if it came from its parser; what it names need not exist.
package id

import "errors"

// ErrSnowflake is returned for text that is not a snowflake.
var ErrSnowflake = errors.New("must be 17 to 19 digits, the first not 0")

// Guild identifies a guild.
type Guild string

// UnmarshalText reads a snowflake.
func (g *Guild) UnmarshalText(text []byte) error { return read(g, text) }

// User identifies a user.
type User string

// UnmarshalText reads a snowflake.
func (u *User) UnmarshalText(text []byte) error { return read(u, text) }

// Role identifies a role of a guild.
type Role string

// UnmarshalText reads a snowflake.
func (r *Role) UnmarshalText(text []byte) error { return read(r, text) }

// Channel identifies a channel of a guild.
type Channel string

// UnmarshalText reads a snowflake.
func (c *Channel) UnmarshalText(text []byte) error { return read(c, text) }

func read[T Guild | User | Role | Channel](into *T, text []byte) (err error) {
	*into, err = Parse[T](string(text))
	return err
}

// Parse checks that s is a snowflake and returns it as T, or ErrSnowflake.
func Parse[T Guild | User | Role | Channel](s string) (T, error) {
	if !Valid(s) {
		return "", ErrSnowflake
	}
	return T(s), nil
}

// Valid reports whether s is a snowflake.
func Valid(s string) bool {
	if len(s) < 17 || len(s) > 19 || s[0] == '0' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
