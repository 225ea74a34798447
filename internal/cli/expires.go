package cli

import (
	"math"
	"strconv"
	"strings"
	"time"
)

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
