// Package periods holds the use cases for boards of a day, week, month or season: it reads running and
// closed ones, and closes them. It does not count gains: the scripts that change XP do (redisstore).
package periods

import (
	"context"
	"errors"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// ErrNotClosed says that the archive has no such closed period of the guild.
var ErrNotClosed = errors.New("the period has not closed, or is not kept any more")

// Totals are over the members whose gains in a period are above 0.
type Totals struct {
	Members int64
	Gained  int64
}

// Closed is a period as it was when it closed.
type Closed struct {
	period.Period
	Totals
	Begins, Ends time.Time      // in the zone of the closing
	Settings     guild.Settings // of the guild at the closing; the zero value in lists
	Winners      []Standing     // the first members of its board
}

// Standing is a member on the board of a period. On a closed one it is as it was at the closing.
type Standing = leaderboard.Standing

// Due is a guild with a period that may have ended, or with changed settings.
type Due struct {
	Guild *guild.Guild
	State snapshot.State
	Open  Open
	// ClosedSeasons are the ids of the guild's closed seasons (period.Period.ID).
	ClosedSeasons []string
}

// Open has for each kind but seasons the first day of its first period that has not closed. It is written with settings that
// configure a kind, and with each closing. Days are in it whenever the guild counts gains, since each day has its totals.
type Open map[period.Kind]period.Day

// Closing is one step of closing a guild's periods.
type Closing struct {
	Guild *guild.Guild
	// Period is the period to close; nil to store only Open, Next and Keep.
	Period       *period.Period
	Begins, Ends time.Time
	// Board says that standings are stored; otherwise only totals are.
	Board bool
	// Open, Next and Keep are stored for the guild: its open periods after this step, when it is due again
	// (zero: not before its settings change), and the first day whose gains are still needed (0: none).
	Open Open
	Next time.Time
	Keep period.Day
}

// Archive is what periods need of Postgres or SQLite.
type Archive interface {
	// Due lists at most limit guilds that are due by a time, or whose settings were written since their last Closing.
	Due(ctx context.Context, by time.Time, limit int) ([]Due, error)
	// ClosePeriod makes one step in one transaction, while batches of the guild continue: standings with ranks (equal gains in the order
	// of ZREVRANGE), totals, and the guild's settings. It may take minutes. closed is false if the period had closed before. It returns
	// lease.ErrLost if the fence differs, and snapshot.ErrStale if the guild's incarnation or version does; then nothing is written.
	ClosePeriod(ctx context.Context, l lease.Lease, c Closing) (closed bool, err error)
	// Unannounced lists at most limit closed periods that have not been Announced and that have a board
	// and at least one member. It lists them by Number, from the first above after, with up to 10 winners.
	Unannounced(ctx context.Context, after int64, limit int) ([]Announcement, error)
	// Announced records that a period was announced.
	Announced(ctx context.Context, a Announcement) error

	// Resets lists at most limit guilds whose followers must get a reset, by id, from
	// above after. Told records that they got it, unless another reset happened since.
	Resets(ctx context.Context, after id.Guild, limit int) ([]Reset, error)
	Told(ctx context.Context, r Reset) error

	// Closed reads a closed period with a board, with its settings but without winners. It returns ErrNotClosed.
	Closed(ctx context.Context, g leaderboard.GuildRef, periodID string) (Closed, error)
	// Standings reads at most limit standings after a rank, in order. It skips standings that are no longer kept.
	Standings(ctx context.Context, g leaderboard.GuildRef, periodID string, after int64, limit int) ([]Standing, error)
	// StandingsBefore returns the rank after which a part of limit standings begins, with the user in its middle. With an even limit, one more
	// is above the user. At the ends of the board the part is as long. It returns leaderboard.ErrNoMember if no kept standing has the user.
	StandingsBefore(ctx context.Context, g leaderboard.GuildRef, periodID string, user id.User, limit int) (after int64, err error)
	// ClosedPeriods lists at most limit closed periods of a kind or of all (""), from an offset on, that have a board
	// and at least one member. The newest start comes first, then the shorter period. Each has up to 3 winners.
	ClosedPeriods(ctx context.Context, g leaderboard.GuildRef, kind period.Kind, offset, limit int64) ([]Closed, error)
	// Activity lists the days of a range on which a member gained more than 0, oldest first: closed days as they were, others as archived.
	Activity(ctx context.Context, g leaderboard.GuildRef, first, end period.Day) ([]DayTotals, error)
	// History lists a member's gains from a day on, oldest first.
	History(ctx context.Context, g leaderboard.GuildRef, user id.User, first period.Day) ([]period.Gain, error)
}

// Announcement is a closed period that must be announced.
type Announcement struct {
	Guild  leaderboard.GuildRef
	Number int64 // above 0; a later closing of the guild has a higher one
	Closed
}

// DayTotals are the totals of a day.
type DayTotals struct {
	Day period.Day
	Totals
}
