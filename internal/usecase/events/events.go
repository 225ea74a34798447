// Package events lets callers follow what happens to the members of a guild. The step that changes a member also writes its event to the
// guild's log in the live store, so no change is without it. A Feed reads the logs of followed guilds, once for all followers. It knows no HTTP.
package events

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// KeptEvents is how many of a guild's last events the log keeps at least.
	KeptEvents = 10_000
	// keptFor is how long they are kept at least after the last of them.
	keptFor = time.Hour
)

// ID is the place of an event in a guild's log: the time in ms since 1970, and a number within it.
type ID struct {
	Millis, Number uint64
}

// errID is ParseID's error, a sentence for the client.
var errID = errors.New("must be the id of an event as it was sent, such as 1700000000000-0")

// ParseID reads what String wrote, and nothing else.
func ParseID(text string) (ID, error) {
	millis, number, _ := strings.Cut(text, "-")
	var i ID
	var err error
	if i.Millis, err = strconv.ParseUint(millis, 10, 64); err != nil {
		return ID{}, errID
	}
	if i.Number, err = strconv.ParseUint(number, 10, 64); err != nil || i.String() != text {
		return ID{}, errID
	}
	return i, nil
}

func (i ID) String() string {
	return strconv.FormatUint(i.Millis, 10) + "-" + strconv.FormatUint(i.Number, 10)
}

// Compare is negative when i is before other, and positive when it is after it.
func (i ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(i.Millis, other.Millis), cmp.Compare(i.Number, other.Number))
}

// before returns the place just before i. There is no event at 0-0.
func (i ID) before() ID {
	switch {
	case i.Number > 0:
		return ID{i.Millis, i.Number - 1}
	case i.Millis > 0:
		return ID{i.Millis - 1, 1<<64 - 1}
	}
	return i
}

// Entry is an event as the log has it.
type Entry struct {
	ID ID
	// Reset, when set, is why the members have to be read again; then nothing else is.
	Reset  Reason
	Period string // the event of a closed period (periods.Event); then all else is empty
	User   id.User
	Moved  Move // unless it is a change of level
	Hidden bool // the member is
	// Before and After are the XP of a change of level. After is the XP of a member who came back, too.
	Before, After level.XP
	Channel       id.Channel // of the message that raised the level; empty for none
	Silent        bool       // bulk PUT or POST raised the level: nobody is to be congratulated
}

// Reason is why members have to be read again.
type Reason string

// The reasons.
const (
	Lost     Reason = "lost"     // events before this place may have been lost
	Settings Reason = "settings" // the curve or the role rewards have changed
	Imported Reason = "import"
	Restored Reason = "restore"
	Cleared  Reason = "cleared"
)

// Move says how a member left the board, or that it came back.
type Move int

// The moves.
const (
	Stayed Move = iota
	Removed
	Returned
)

// Kind is what an event is called.
type Kind string

// The kinds of events about a member.
const (
	LevelUp   Kind = "levelup"
	LevelDown Kind = "leveldown"
	Left      Kind = "removed"
	Back      Kind = "returned"
)

// Told is an event about a member, as clients get it.
type Told struct {
	Kind                 Kind
	UserID               id.User
	Level, PreviousLevel level.Level // 0 of a member who has left; the second only of a change of level
	XP                   level.XP    // after it
	Add, Remove          []id.Role
	Channel              id.Channel // of a LevelUp, as is the next
	Silent               bool
	Hidden               bool
}

// Told reads the entry by the guild's present settings. ok is false when it is not about a member, or not a change of level.
func (e Entry) Told(g *guild.Guild) (t Told, ok bool) {
	if e.Reset != "" || e.User == "" {
		return t, false
	}
	t = Told{Kind: Back, UserID: e.User, Hidden: e.Hidden, Level: g.Curve.LevelAt(e.After), XP: e.After}
	switch e.Moved {
	case Removed:
		return Told{Kind: Left, UserID: e.User, Hidden: e.Hidden, Remove: g.RewardRoles()}, true
	case Stayed:
		if t.PreviousLevel = g.Curve.LevelAt(e.Before); t.Level == t.PreviousLevel {
			return Told{}, false
		}
		t.Kind, t.Channel, t.Silent = LevelUp, e.Channel, e.Silent
		if t.Level < t.PreviousLevel {
			t.Kind, t.Channel, t.Silent = LevelDown, "", false
		}
	}
	t.Add, t.Remove = g.RoleChanges(t.Level)
	return t, true
}

// Extent is what a guild's log holds.
type Extent struct {
	Now            time.Time // by the clock that the ids are made by; milliseconds
	Count          int64
	Oldest, Newest ID // when there are any
}

// end is the place after the newest entry and before the next one.
func (x Extent) end() ID {
	if x.Count > 0 {
		return x.Newest
	}
	return ID{uint64(x.Now.UnixMilli()), 0}.before()
}

// misses reports whether events after a place may be gone from the log, which keeps KeptEvents, and keptFor after the last. An id ahead
// of the log was not given by it.
func (x Extent) misses(after ID) bool {
	if x.Count > 0 && x.Oldest.Compare(after) <= 0 && after.Compare(x.Newest) <= 0 {
		return false
	}
	now, kept := uint64(x.Now.UnixMilli()), uint64(keptFor.Milliseconds())
	return x.Count >= KeptEvents || after.Millis+kept <= now || after.Millis > max(now, x.end().Millis)
}

// Cursor is a place in the log of a guild.
type Cursor struct {
	Guild leaderboard.GuildRef
	After ID
}

// Log is where the live store keeps the events of each guild.
type Log interface {
	// Extent says what a guild's log holds. leaderboard.ErrNotLoaded when the store does not hold that incarnation.
	Extent(ctx context.Context, g leaderboard.GuildRef) (Extent, error)
	// ReadEvents reads for each cursor at most limit entries after it, in their order; none for a guild without any. An error may be
	// that of some guilds only, whose server does not answer: they have none, and what there is of the others is returned with it.
	ReadEvents(ctx context.Context, from []Cursor, limit int64) ([][]Entry, error)
}
