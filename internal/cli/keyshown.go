package cli

import (
	"math"
	"strconv"
	"strings"
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

const (
	// day is a day of --expires: expiries are in UTC, whose days are all 24 hours.
	day = 24 * time.Hour
	// maxDays is how many of them a Duration holds.
	maxDays = int64(math.MaxInt64 / day)
)

// validity reads the value of --expires: whole days, or a duration as Go writes them.
func validity(text string) (valid time.Duration, err error) {
	if digits, inDays := strings.CutSuffix(text, "d"); inDays {
		var days int64
		days, err = strconv.ParseInt(digits, 10, 64)
		if days > maxDays {
			return 0, usage("--expires takes at most %dd; leave it out for a key that never expires", maxDays)
		}
		valid = time.Duration(max(days, 0)) * day
	} else {
		valid, err = time.ParseDuration(text)
	}
	switch {
	case err != nil:
		return 0, usage("--expires takes hours or days, such as 720h or 30d")
	case valid <= 0:
		return 0, usage("--expires must be a time from now, such as 720h or 30d")
	}
	return valid, nil
}
