package guild

import (
	"errors"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
)

// HashRule is the rule of ValidHash in words for a client.
const HashRule = "32 lowercase letters or digits, with or without a_ before them"

// ValidHash reports whether s can be the hash of an avatar or icon (HashRule).
func ValidHash(s string) bool { return hashForm.MatchString(s) }

var (
	hashForm   = regexp.MustCompile(`^(a_)?[a-z0-9]{32}$`)
	vanityForm = regexp.MustCompile(`^[a-zA-Z0-9]{2,32}$`)
	entryForm  = regexp.MustCompile(`^[a-zA-Z0-9]+$`)
)

// Vanity is a short name for a guild's board. It is stored and compared in lower case. It has 2 to 32 ASCII letters
// and digits, but not 17 to 19 digits alone, which would be a guild's id. A guild without one has the empty Vanity.
type Vanity string

// ParseVanity reads a vanity in any case. Its error is the rule that the text breaks.
func ParseVanity(s string) (Vanity, error) {
	if !vanityForm.MatchString(s) {
		return "", errors.New("must be 2 to 32 letters (a to z) and digits")
	}
	if len(s) >= 17 && len(s) <= 19 && strings.Trim(s, "0123456789") == "" {
		return "", errors.New("must not be 17 to 19 digits alone, which would look like an id; add a letter")
	}
	return Vanity(strings.ToLower(s)), nil
}

// UnmarshalText is ParseVanity.
func (v *Vanity) UnmarshalText(text []byte) (err error) {
	*v, err = ParseVanity(string(text))
	return err
}

// MarshalJSON writes null for an empty vanity.
func (v Vanity) MarshalJSON() ([]byte, error) {
	if v == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(v))
}

// ParseEntry reads the name of a leaderboard in a path: a guild's id, or else a vanity to look up, in lower case. It also returns letters and
// digits that are too few or too many for a vanity: they name no guild, but are not malformed. The error is a fault with code fault.Invalid.
func ParseEntry(s string) (gid id.Guild, vanity string, err error) {
	if id.Valid(s) {
		return id.Guild(s), "", nil
	}
	if !entryForm.MatchString(s) {
		return "", "", fault.New(fault.Invalid, "The leaderboard must be named by a guild's id or by a vanity of letters (a to z) and digits")
	}
	return "", strings.ToLower(s), nil
}
