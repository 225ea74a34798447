package leaderboard

import (
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// MaxAwards is how many members one step awards: a step of that size holds the live store up for less than a millisecond
// (docs/benchmarks.md).
const MaxAwards = 100

// Award is what one member is offered for its messages.
type Award struct {
	User id.User
	// Offers holds what each message is worth, in the order of the messages. The first that is worth anything, when the member
	// has no cooldown, is given, up to level.MaxXP, and starts the cooldown.
	Offers []level.XP
	// Data replaces the user data that is stored; nil leaves it, and is no user data for a member that had no entry.
	Data *User
}

// Awards are the awards of one step, for at most MaxAwards members, of which none is named twice.
type Awards struct {
	Members []Award
	// Cooldown is how long a member gains nothing after a message that gave XP (millisecond resolution); with 0 every
	// message gives what it is worth.
	Cooldown time.Duration
	Curve    *level.Curve // as in Creation
	Once     Once         // names the step, if it may be asked for again
}

// Awarded is what a member had before, and what each of its messages gave.
type Awarded struct {
	Before       level.XP
	MessageCount int64 // before
	Gained       []level.XP
}
