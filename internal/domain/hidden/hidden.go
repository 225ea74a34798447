// Package hidden holds the flags by which a user is off the board of a guild by choice. They belong to the user in the guild, not to the entry.
package hidden

import (
	"slices"
	"strings"

	"levelboard/internal/domain/id"
)

// Flags say by whom a user is hidden; 0 is nobody.
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

// Words are the names of the flags that are set; never nil.
func (f Flags) Words() []string {
	set := []string{}
	for i, word := range words {
		if f&(1<<i) != 0 {
			set = append(set, word)
		}
	}
	return set
}

// String is the Words with spaces between, as in exports.
func (f Flags) String() string { return strings.Join(f.Words(), " ") }

// Parse reads words; ok is false if one of them names no flag.
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

// User is a user with flags, and the number of the change that set or lifted the last of them.
type User struct {
	User   id.User
	Flags  Flags
	Number int64
}

// Part is what changed of a guild's flags after one number, up to another, which the guild has when it has all of them.
type Part struct {
	After, Upto int64
	Users       []User // by number
}

// MaxStep is how many users one step hides or shows at most.
const MaxStep = 1000
