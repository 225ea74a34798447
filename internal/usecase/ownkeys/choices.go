package ownkeys

import (
	"slices"
	"time"

	"levelboard/internal/domain/fault"
)

const day = 24 * time.Hour

// Lifetime is how long a new key is valid; Never has no end.
type Lifetime time.Duration

// The lifetimes that a user can choose from, in the order of a form. A Lifetime of 0 is none of them, so that a key without
// an end is never made by omission.
const (
	SevenDays  = Lifetime(7 * day)
	ThirtyDays = Lifetime(30 * day)
	NinetyDays = Lifetime(90 * day)
	OneYear    = Lifetime(365 * day)
	Never      = Lifetime(-1)
)

var lifetimes = map[string]Lifetime{"7": SevenDays, "30": ThirtyDays, "90": NinetyDays, "365": OneYear, "never": Never}

// ParseLifetime reads a number of days, 7, 30, 90 or 365, or never. Anything else is an Invalid fault.
func ParseLifetime(text string) (Lifetime, error) {
	if l, ok := lifetimes[text]; ok {
		return l, nil
	}
	return 0, errLifetime()
}

func errLifetime() error {
	return fault.New(fault.Invalid, "expiry must be 7, 30, 90 or 365 days, or never")
}

// from is when a key that is made now expires; nil is never.
func (l Lifetime) from(now time.Time) (*time.Time, error) {
	switch l {
	case Never:
		return nil, nil
	case SevenDays, ThirtyDays, NinetyDays, OneYear:
		return new(now.Add(time.Duration(l)).UTC().Truncate(time.Millisecond)), nil
	default:
		return nil, errLifetime()
	}
}

// Overlap is how long the secrets from before a rotation stay valid.
type Overlap time.Duration

// The overlaps that a user can choose from.
const (
	NoOverlap   = Overlap(0)
	OneHour     = Overlap(time.Hour)
	OneDay      = Overlap(day)
	WeekOverlap = Overlap(7 * day)
)

var overlaps = map[string]Overlap{"none": NoOverlap, "1h": OneHour, "24h": OneDay, "7d": WeekOverlap}

// ParseOverlap reads none, 1h, 24h or 7d. Anything else is an Invalid fault.
func ParseOverlap(text string) (Overlap, error) {
	if o, ok := overlaps[text]; ok {
		return o, nil
	}
	return 0, errOverlap()
}

func errOverlap() error { return fault.New(fault.Invalid, "overlap must be none, 1h, 24h or 7d") }

func (o Overlap) valid() bool {
	return slices.Contains([]Overlap{NoOverlap, OneHour, OneDay, WeekOverlap}, o)
}
