// Package periods holds the use cases for boards of a day, week, month or season: it reads running and closed ones, and closes them. It does not
// count gains: the scripts that change XP do (redisstore).
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

// Totals are over the members of a period whose gains are above 0.
type Totals struct {
	Members int64
	Gained  int64
}

// Closed is a period that has closed, as it was then.
type Closed struct {
	period.Period
	Totals
	Begins, Ends time.Time      // in the zone of its closing
	Settings     guild.Settings // the guild's, then; of lists of periods, the zero value
	Winners      []Standing     // the first of its board
}

// Standing is a member on the board of a period: as it was at closing on a closed one.
type Standing = leaderboard.Standing

// Due is a guild with a period that may have ended, or with changed settings.
type Due struct {
	Guild *guild.Guild
	State snapshot.State
	Open  Open
	// ClosedSeasons are the ids of its closed seasons (period.Period.ID).
	ClosedSeasons []string
}

// Open is, for each kind but seasons, the first day of the first period that has not closed. It is written with the settings that have a kind begin, and
// with each closing. Days are in it whenever anything is counted, since each has its totals.
type Open map[period.Kind]period.Day

// Closing is one step of closing a guild's periods.
type Closing struct {
	Guild *guild.Guild
	// Period is the period to close; nil to note only the fields below.
	Period       *period.Period
	Begins, Ends time.Time
	// Board says that standings are kept; else only the totals are.
	Board bool
	// Open, Next and Keep are stored for the guild: its open periods after this step, when it is due again (zero: not before its settings change),
	// and the first day whose gains are still needed (0: none).
	Open Open
	Next time.Time
	Keep period.Day
}

// Archive is what periods need of Postgres or SQLite.
type Archive interface {
	// Due lists guilds that are due by a time or whose settings were written since their last Closing, at most limit.
	Due(ctx context.Context, by time.Time, limit int) ([]Due, error)
	// ClosePeriod makes one step in one transaction, while batches of the guild continue: standings with ranks (equal gains in the order of
	// ZREVRANGE), totals, and the guild's settings. It may take minutes. closed is false if the period had closed before. lease.ErrLost if the
	// fence differs, snapshot.ErrStale if the guild's incarnation or version does; nothing is written then.
	ClosePeriod(ctx context.Context, l lease.Lease, c Closing) (closed bool, err error)
	// Unannounced lists closed periods with a board and at least one member that Announced was not called for, by their Number, with up to 10
	// winners: at most limit, after a number.
	Unannounced(ctx context.Context, after int64, limit int) ([]Announcement, error)
	// Announced notes that a period was announced.
	Announced(ctx context.Context, a Announcement) error

	// Resets lists guilds whose followers must hear of a reset, by id: at most limit, after an id. Told notes that they have, unless another reset
	// happened since.
	Resets(ctx context.Context, after id.Guild, limit int) ([]Reset, error)
	Told(ctx context.Context, r Reset) error

	// Closed reads a closed period with a board, its settings included and without winners. ErrNotClosed.
	Closed(ctx context.Context, g leaderboard.GuildRef, periodID string) (Closed, error)
	// Standings reads at most limit standings after a rank, in their order. Standings that are not kept any more are missing.
	Standings(ctx context.Context, g leaderboard.GuildRef, periodID string, after int64, limit int) ([]Standing, error)
	// StandingsBefore returns the rank after which at most limit standings begin that have a user in their middle. With an even limit one more is
	// above; at the ends the number stays the same. leaderboard.ErrNoMember if no kept standing has the user.
	StandingsBefore(ctx context.Context, g leaderboard.GuildRef, periodID string, user id.User, limit int) (after int64, err error)
	// ClosedPeriods lists closed periods with a board and at least one member, of a kind or of all (""), by their start, the newest first, then
	// the shorter first, with up to 3 winners: at most limit, from an offset on.
	ClosedPeriods(ctx context.Context, g leaderboard.GuildRef, kind period.Kind, offset, limit int64) ([]Closed, error)
	// Activity lists the days of a range that have at least one member above 0, oldest first: closed ones as they were, others as archived.
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
