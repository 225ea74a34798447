// Package leaderboard holds the use cases for a guild's members: read, create, change and delete them, award messages, record presence, find members
// by name, and read a page, a standing or the rows around it. It does not check the caller, limit rates or write the archive.
package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/domain/award"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/audit"
)

// Errors of a Board. The first seven mean that nothing was changed. After any other
// error a change may have happened, since the live store's answer may be lost.
var (
	ErrNotLoaded    = errors.New("guild is not loaded") // the live store does not hold this incarnation of the guild
	ErrNoMember     = errors.New("member has no entry")
	ErrNotPresent   = fmt.Errorf("the member is not present: %w", ErrNoMember)
	ErrMemberExists = errors.New("member has an entry already")
	ErrKeyReused    = errors.New("another request under the same key")   // Once
	ErrAskArchive   = errors.New("the record may be in the archive")     // Once.Past is needed: the store may have lost the record
	ErrNoBoard      = errors.New("the board of the period is not there") // Loader.LoadBoards loads it with the guild
	// ErrNotReplicated means that the change was made, but too few replicas have it. It is lost if the server dies now.
	ErrNotReplicated = errors.New("too few replicas have the change")
)

// AskArchive is ErrAskArchive with the guild's epoch, for Past.Epoch.
type AskArchive struct{ Epoch int64 }

func (AskArchive) Error() string { return ErrAskArchive.Error() }

// Unwrap makes errors.Is report ErrAskArchive.
func (AskArchive) Unwrap() error { return ErrAskArchive }

// GuildRef names one incarnation of a guild.
type GuildRef struct {
	ID          id.Guild
	Incarnation guild.Incarnation
	// Hidden is the number of the newest known flags of hidden users. A live store with older flags returns ErrNotLoaded. 0 requires none.
	Hidden int64
}

// User is a user's data from the chat platform; it may be out of date. Strings hold at most 256 bytes and no NUL.
type User struct {
	AccentColour  *string `json:"accentColour"`
	Avatar        *string `json:"avatar"` // avatar hash
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"globalName"`
	Username      string  `json:"username"`
}

// Member is a member's entry.
type Member struct {
	UserID       id.User
	XP           level.XP
	MessageCount int64
	LastUpdated  time.Time // zero if not known; milliseconds
	User         User
}

// Ranked is a member with its rank: the position by XP, highest first, from 1. Members of equal XP are in the order of ZREVRANGE. A hidden member
// has the rank below all members with more XP.
type Ranked struct {
	Member
	Rank   int64
	Hidden bool
}

// Op says what a Change does to XP.
type Op string

// The operations. Increment and Decrement stop at level.MaxXP and 0.
const (
	Increment Op = "increment"
	Decrement Op = "decrement"
	Set       Op = "set"
)

// Creation describes a new entry.
type Creation struct {
	XP   level.XP
	User User
	// Curve, when set, is the curve of levels. The step then logs a level-up as an event of the guild.
	Curve *level.Curve
	Days  *period.Days // as in Change
	Once  Once
	Audit *audit.Entry // as in Change
}

// Removal describes the end of an entry.
type Removal struct {
	Days  *period.Days // as in Change
	Once  Once
	Audit *audit.Entry // as in Change
}

// Change is one change of a member's XP.
type Change struct {
	Op     Op
	Amount level.XP
	// Cooldown, when positive, starts the member's cooldown for that long (millisecond resolution).
	Cooldown time.Duration
	Curve    *level.Curve // as in Creation
	// Days are the days around now, set if the guild counts gains. The live store chooses the day of the gain by its own clock.
	Days *period.Days
	Once Once
	// Audit, when set, is recorded in the guild's journal in the same step. A Leaderboard sets it.
	Audit *audit.Entry
}

// Outcome is the result of a change.
type Outcome struct {
	Before       level.XP
	After        level.XP
	MessageCount int64
	// Replayed says that the same request was made before. The outcome is that of the first time; nothing was changed now.
	Replayed bool
}

// Version identifies a state of a guild. Two reads of a guild with equal versions saw the same members.
type Version struct {
	Epoch int64
	Rev   int64
}

// Page is a part of a board and its version, read in one atomic step.
type Page struct {
	Version Version
	Rows    []Ranked
}

const (
	// MaxViewUsers bounds one Look. A step of that size blocks the live store for a millisecond or two.
	MaxViewUsers = 100
	// MaxPage is beyond the last page of any board, and far below where a script's floats lose whole numbers.
	MaxPage = 1 << 40
)

// Look says what to read of a board in one step: a page and at most MaxViewUsers members.
type Look struct {
	Page  int64 // from 1; a number past the last page means the last, and 0 means no page
	Users []id.User
	// Unless, when set, skips page and members if the guild still has that version.
	Unless *Version
}

// View is the result of a Look, at one moment.
type View struct {
	Version   Version
	Total     int64 // members with an entry
	Unchanged bool  // the guild has the version that Look.Unless names: Rows and Members were not read
	Number    int64 // of the page
	Rows      []Ranked
	Members   []Ranked // in the order of Look.Users, without those who have no entry
}

// WithoutGains converts rows to those of a period, with gains of 0.
func WithoutGains(rows []Ranked) []Standing {
	standings := make([]Standing, len(rows))
	for i, row := range rows {
		standings[i].Ranked = row
	}
	return standings
}

// LastPage returns the number of the last page of a board with so many members.
func LastPage(members int64) int64 { return PageOf(max(members, 1)) }

// PageOf returns the number of the page that has a rank.
func PageOf(rank int64) int64 { return (max(rank, 1)-1)/PageSize + 1 }

// Uncounted is the offer for a message that is not counted. Such a message creates no entry and brings back no absent member.
const Uncounted = award.Uncounted

// MaxAwards is how many members one step changes. A script blocks every other call, so a step is small.
const MaxAwards = 100

// Award offers XP to one member for its messages.
type Award struct {
	User id.User
	// Offers are the XP of each message in order, or Uncounted. Outside a cooldown
	// the first offer above 0 is given, up to level.MaxXP, and starts a cooldown.
	Offers []level.XP
	// Channel is the channel of the message whose offer is given, for the event of a level-up.
	Channel id.Channel
	// Data replaces the stored user data. nil leaves it; a new entry then has no user data.
	Data *User
}

// Awards are the awards of one step, for at most MaxAwards members, each named once.
type Awards struct {
	Members []Award
	// Cooldown is how long a member gains nothing after a message that gave XP (milliseconds); 0 is none.
	Cooldown time.Duration
	Curve    *level.Curve // as in Creation
	Days     *period.Days // as in Change
	Once     Once         // names the step, if the client may repeat it
}

// Awarded is a member's state before an Award, and the XP of each message.
type Awarded struct {
	Before       level.XP
	Created      bool       // the entry was made
	MessageCount int64      // before
	Gained       []level.XP // Uncounted if the first run of the request did not count the message
}

// Board is the live store. Each method is one atomic step on one guild. It returns ErrNotLoaded, with nothing
// changed, if the store does not hold that incarnation. The store never repeats a method that changes something.
//
// If Once names the request, the step records its change for OnceTTL. The same request in the same incarnation then
// returns the first outcome, marked as Replayed. Another request under its key is ErrKeyReused, which is checked
// after ErrNotLoaded and before the other errors. After a load that may have lost records, the store needs Once.Past.
type Board interface {
	// Member reads the entry and rank of a member, who may be hidden. It returns
	// ErrNoMember if there is none, and ErrNotPresent for an absent one.
	Member(ctx context.Context, g GuildRef, user id.User) (Ranked, error)
	// Stored reads the entries of at most 1000 users, on the board or not. Users without one are left out.
	Stored(ctx context.Context, g GuildRef, users []id.User) ([]Member, error)
	// Page reads at most limit entries from position offset (0-based) on.
	Page(ctx context.Context, g GuildRef, offset, limit int64) (Page, error)
	// View reads pages and members, and the number of members.
	View(ctx context.Context, g GuildRef, look Look) (View, error)
	// Version reads the guild's current version.
	Version(ctx context.Context, g GuildRef) (Version, error)
	// Create creates an entry without messages. It returns ErrMemberExists if the member has one, present or absent.
	Create(ctx context.Context, g GuildRef, user id.User, c Creation) (Outcome, error)
	// Change applies c. It returns ErrNoMember if there is no entry, and ErrNotPresent for an absent member.
	Change(ctx context.Context, g GuildRef, user id.User, c Change) (Outcome, error)
	// Delete removes the entry with its cooldown. The member may be absent. It returns ErrNoMember if there is no entry.
	Delete(ctx context.Context, g GuildRef, user id.User, r Removal) (replayed bool, err error)
	// Award gives members XP for their messages, counts the messages, brings back absent members, and creates
	// missing entries. got is in the order of a.Members. replayed reports whether the step was made before.
	Award(ctx context.Context, g GuildRef, a Awards) (got []Awarded, replayed bool, err error)
	// Put changes many members by p.Mode, and creates missing entries. done is in
	// the order of p.Members. replayed reports whether the step was made before.
	Put(ctx context.Context, g GuildRef, p Puts) (done []Done, replayed bool, err error)
	// SetPresence takes members off the board or brings them back.
	SetPresence(ctx context.Context, g GuildRef, p Presence) (Moved, error)
	// EntryGains reads a member's gains on its last days from the entry. It returns ErrNoMember.
	EntryGains(ctx context.Context, g GuildRef, user id.User) (LatestGains, error)
	// Standings reads at most limit members of a running period from position offset
	// (0-based) on. It ranks members with a gain above 0. It returns ErrNoBoard.
	Standings(ctx context.Context, g GuildRef, p period.Period, offset, limit int64) (Standings, error)
	// Position reads a member's position on the board of all time and in running
	// periods, at most one of each kind. It returns ErrNoMember or ErrNoBoard.
	Position(ctx context.Context, g GuildRef, user id.User, running []period.Period) (Position, error)
	// Around reads a part of a board with a member in its middle. It returns ErrNoMember if the member is not on it, or ErrNoBoard.
	Around(ctx context.Context, g GuildRef, user id.User, w Window) (Around, error)
}
