// Package hidden holds the flags that take a user off a guild's board by choice. They belong to the user in the guild, not to the board's entry.
package hidden

import (
	"slices"
	"strings"

	"levelboard/internal/domain/id"
)

// Flags say who hid a user; 0 means nobody.
type Flags uint8

// The flags.
const (
	ByManager Flags = 1 << iota
	BySelf
)

// ByManager reports whether a manager hid the user.
func (f Flags) ByManager() bool { return f&ByManager != 0 }

// BySelf reports whether they hid themselves.
func (f Flags) BySelf() bool { return f&BySelf != 0 }

// words are the names of the flags, in their order.
var words = []string{"manager", "self"}

// Words returns the names of the flags that are set; never nil.
func (f Flags) Words() []string {
	set := []string{}
	for i, word := range words {
		if f&(1<<i) != 0 {
			set = append(set, word)
		}
	}
	return set
}

// String returns the Words with spaces between them, as exports have it.
func (f Flags) String() string { return strings.Join(f.Words(), " ") }

// Parse reads the names of flags. ok is false if it does not know one.
func Parse(names ...string) (f Flags, ok bool) {
	ok = true
	for _, name := range names {
		if i := slices.Index(words, name); i >= 0 {
			f |= 1 << i
		} else {
			ok = false
		}
	}
	return f, ok
}

// User is a user with flags. Number is that of the change that last set or lifted one of them.
type User struct {
	User   id.User
	Flags  Flags
	Number int64
}

// Part holds the users whose last change of flags has a number above After and at most Upto.
type Part struct {
	After, Upto int64
	Users       []User // by number
}

// MaxStep is the maximum number of users that one step hides or shows.
const MaxStep = 1000
