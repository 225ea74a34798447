package apikey

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/strictjson"
)

// NewKey has the properties that are chosen when a key is created.
type NewKey struct {
	ID         string // chosen by a form, so that sending it twice makes one key; empty: a new one
	Name       string // valid by CheckName
	OwnerID    id.User
	Permission Permission
	GuildIDs   []id.Guild // ascending, no duplicates, at most 1000
	ExpiresAt  *time.Time // UTC, milliseconds; nil: never
	RateLimit  *int       // requests a minute, 0 to 1000000000; nil: the service's default; 0: no limit for this key alone
}

type newKeyBody struct {
	Name       string                          `json:"name" bytes:"1..100"`
	OwnerID    id.User                         `json:"ownerId"`
	Permission string                          `json:"permission"`
	GuildIDs   strictjson.Optional[[]id.Guild] `json:"guildIds" items:"0..1000"`
	ExpiresAt  strictjson.Optional[*time.Time] `json:"expiresAt"`
	RateLimit  strictjson.Optional[*int]       `json:"rateLimit" bounds:"0..2147483647"`
}

// ParseNewKey reads the body of POST /admin/keys. A client's mistake is an Invalid fault that names the property.
func ParseNewKey(data []byte, now time.Time) (NewKey, error) {
	var body newKeyBody
	if err := strictjson.Decode(data, &body); err != nil {
		return NewKey{}, err
	}
	n := NewKey{Name: body.Name, OwnerID: body.OwnerID, RateLimit: body.RateLimit.Or(nil)}
	if err := CheckName(n.Name); err != nil {
		return NewKey{}, err
	}
	var err error
	if n.Permission, err = ParsePermission(body.Permission); err != nil {
		return NewKey{}, fault.New(fault.Invalid, "permission %v", err)
	}
	if n.GuildIDs, err = checkGrants(body.GuildIDs.Or(nil)); err != nil {
		return NewKey{}, err
	}
	if n.ExpiresAt, err = checkExpiry(body.ExpiresAt.Or(nil), now); err != nil {
		return NewKey{}, err
	}
	return n, nil
}

// MaxName is the maximum length of a key's name in bytes.
const MaxName = 100

// CheckName returns an Invalid fault unless name can be the name of a key: 1 to MaxName bytes of UTF-8, without
// control characters or marks that change the direction of text, and with at least one visible character.
func CheckName(name string) error {
	switch {
	case len(name) > MaxName || !utf8.ValidString(name):
		return fault.New(fault.Invalid, "name must be 1 to %d bytes of UTF-8", MaxName)
	case strings.ContainsFunc(name, isControl) || !displayname.Any(name):
		return fault.New(fault.Invalid, "name must be text that can be seen, without control characters and marks of direction")
	}
	return nil
}

func isControl(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

func checkGrants(sent []id.Guild) ([]id.Guild, error) {
	guilds := append([]id.Guild{}, sent...)
	slices.Sort(guilds)
	for i := 1; i < len(guilds); i++ {
		if guilds[i] == guilds[i-1] {
			return nil, fault.New(fault.Invalid, "guildIds must name each guild once, but has %s twice", guilds[i])
		}
	}
	return guilds, nil
}

// checkExpiry truncates to milliseconds, the resolution of all stored times.
func checkExpiry(sent *time.Time, now time.Time) (*time.Time, error) {
	if sent == nil {
		return nil, nil
	}
	at := sent.UTC().Truncate(time.Millisecond)
	switch {
	case !at.After(now):
		return nil, fault.New(fault.Invalid, "expiresAt must be in the future")
	case at.Year() > 9999: // RFC 3339 cannot write it; it was sent with a negative offset
		return nil, fault.New(fault.Invalid, "expiresAt must be before the year 10000")
	}
	return &at, nil
}
