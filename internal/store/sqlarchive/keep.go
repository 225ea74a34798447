package sqlarchive

import (
	"time"

	"levelboard/internal/domain/apikey"
)

// The times that an archive keeps things before it purges them.
const (
	// LogTime is how long entries of the change log stay; a follower that was away for longer starts again.
	LogTime = 24 * time.Hour
	// UseHours is how many hours of the use of keys stay: a day, and one for clocks that differ.
	UseHours = apikey.HoursOfDay + 1
	// FlushTime is how long a replica may wait for an answer to its flush before it could be added twice.
	FlushTime = 7 * 24 * time.Hour
)
