// Package events lets callers follow what happens to the members of a guild. The step that changes a member also writes its event to the guild's
// log in the live store, so no change lacks its event. A Feed reads the logs of followed guilds, once for all followers. It knows no HTTP.
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
	// KeptEvents is how many of a guild's latest events the log keeps at least.
	KeptEvents = 10_000
	// keptFor is how long the log keeps them at least, after the newest of them.
	keptFor = time.Hour
)

// ID is the position of an event in a guild's log: the time in ms since 1970, and a number within that millisecond.
type ID struct {
	Millis, Number uint64
}

// errID is the error of ParseID, a sentence for the client.
var errID = errors.New("must be the id of an event as it was sent, such as 1700000000000-0")

// ParseID reads the result of String, and rejects any other text.
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

// Compare returns a negative number if i is before other, and a positive one if it is after it.
func (i ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(i.Millis, other.Millis), cmp.Compare(i.Number, other.Number))
}

// before returns the position just before i. There is no event at 0-0.
func (i ID) before() ID {
	switch {
	case i.Number > 0:
		return ID{i.Millis, i.Number - 1}
	case i.Millis > 0:
		return ID{i.Millis - 1, 1<<64 - 1}
	}
	return i
}

// Entry is an event in the log.
type Entry struct {
	ID ID
	// Reset says why the members must be read again. If it is set, nothing else is.
	Reset  Reason
	Period string // the event of a closed period (periods.Event); if set, nothing else is
	User   id.User
	Moved  Move // set if the event is not a change of level
	Hidden bool // the member is hidden
	// Before and After are the XP around a change of level. For a member who came back, After is their XP.
	Before, After level.XP
	Channel       id.Channel // of the message that raised the level; empty if there is none
	Silent        bool       // a bulk PUT or POST raised the level, so nobody should be congratulated
}

// Reason says why members must be read again.
type Reason string

// The reasons.
const (
	Lost     Reason = "lost"     // events before this position may have been lost
	Settings Reason = "settings" // the curve or the role rewards have changed
	Imported Reason = "import"
	Restored Reason = "restore"
	Cleared  Reason = "cleared"
)

// Move says how a member left the board, or that they came back.
type Move int

// The moves.
const (
	Stayed Move = iota
	Removed
	Returned
)

// Kind is the name of an event.
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
	Level, PreviousLevel level.Level // Level is 0 for a member who left; PreviousLevel is set only for a change of level
	XP                   level.XP    // after the event
	Add, Remove          []id.Role
	Channel              id.Channel // Channel and Silent are set only for a LevelUp
	Silent               bool
	Hidden               bool
}

// Told interprets the entry by the guild's current settings. ok is false if it is not about a member, or not a change of level after all.
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

// Extent describes what a guild's log holds.
type Extent struct {
	Now            time.Time // by the clock that makes the ids; milliseconds
	Count          int64
	Oldest, Newest ID // set if Count is above 0
}

// end returns the position after the newest entry and before the next one.
func (x Extent) end() ID {
	if x.Count > 0 {
		return x.Newest
	}
	return ID{uint64(x.Now.UnixMilli()), 0}.before()
}

// misses reports whether the log may have dropped events after a position. The log keeps the latest
// KeptEvents events until keptFor after the newest. An id ahead of the log did not come from it.
func (x Extent) misses(after ID) bool {
	if x.Count > 0 && x.Oldest.Compare(after) <= 0 && after.Compare(x.Newest) <= 0 {
		return false
	}
	now, kept := uint64(x.Now.UnixMilli()), uint64(keptFor.Milliseconds())
	return x.Count >= KeptEvents || after.Millis+kept <= now || after.Millis > max(now, x.end().Millis)
}

// Cursor is a position in the log of a guild.
type Cursor struct {
	Guild leaderboard.GuildRef
	After ID
}

// Log holds the events of each guild in the live store.
type Log interface {
	// Extent returns what a guild's log holds, or leaderboard.ErrNotLoaded if the store does not hold that incarnation.
	Extent(ctx context.Context, g leaderboard.GuildRef) (Extent, error)
	// ReadEvents reads for each cursor at most limit entries after it, in order. If only some
	// guilds' servers do not answer, it returns an error with the entries of the others.
	ReadEvents(ctx context.Context, from []Cursor, limit int64) ([][]Entry, error)
}
