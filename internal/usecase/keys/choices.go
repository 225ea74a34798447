package keys

import (
	"time"

	"levelboard/internal/domain/fault"
)

const day = 24 * time.Hour

// lifetimes maps a form's choice to how long a new key is valid; 0 means forever.
var lifetimes = map[string]time.Duration{"7": 7 * day, "30": 30 * day, "90": 90 * day, "365": 365 * day, "never": 0}

// ParseExpiry reads a number of days (7, 30, 90 or 365) or never, and returns when
// a key made now expires, or nil for never. Any other text is an Invalid fault.
func ParseExpiry(text string, now time.Time) (*time.Time, error) {
	switch life, ok := lifetimes[text]; {
	case !ok:
		return nil, fault.New(fault.Invalid, "expiry must be 7, 30, 90 or 365 days, or never")
	case life == 0:
		return nil, nil
	default:
		return new(now.Add(life).UTC().Truncate(time.Millisecond)), nil
	}
}

var overlaps = map[string]time.Duration{"none": 0, "1h": time.Hour, "24h": day, "7d": 7 * day}

// ParseOverlap reads how long the secrets from before a rotation stay valid: none, 1h, 24h or 7d. Any other text is an Invalid fault.
func ParseOverlap(text string) (time.Duration, error) {
	overlap, ok := overlaps[text]
	if !ok {
		return 0, fault.New(fault.Invalid, "overlap must be none, 1h, 24h or 7d")
	}
	return overlap, nil
}
