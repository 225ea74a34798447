package cli

import (
	"strconv"
	"time"

	"levelboard/internal/domain/apikey"
)

// shownKey is a key as /admin/keys answers it.
type shownKey struct {
	ID         string            `json:"id"`
	Key        string            `json:"key"` // only in the answer to its creation
	Name       string            `json:"name"`
	OwnerID    string            `json:"ownerId"`
	Permission apikey.Permission `json:"permission"`
	GuildIDs   []string          `json:"guildIds"`
	ExpiresAt  *time.Time        `json:"expiresAt"`
	RateLimit  *int              `json:"rateLimit"`
}

// terms are the key's permission, expiry and limit in words.
func (k shownKey) terms() string {
	text := string(k.Permission) + ", access to " + count(len(k.GuildIDs), "guild") + ", " + k.expiry()
	if k.RateLimit != nil {
		text += ", " + k.limit()
	}
	return text
}

func (k shownKey) expiry() string {
	if k.ExpiresAt == nil {
		return "never expires"
	}
	return "expires " + k.ExpiresAt.UTC().Format(time.RFC3339)
}

func (k shownKey) limit() string {
	switch {
	case k.RateLimit == nil:
		return "default"
	case *k.RateLimit == 0:
		return "no limit"
	default:
		return strconv.Itoa(*k.RateLimit) + " a minute"
	}
}
