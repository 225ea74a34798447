package importer

import (
	"time"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// noLevel is Shown for a row whose source shows no level.
const noLevel level.Level = -1

// Row is a member in a file. The JSON tags are for the spool.
type Row struct {
	File         int               `json:"f,omitzero"` // index in Report.Files
	Line         int               `json:"l"`          // the line on which the member begins, from 1
	UserID       id.User           `json:"u"`
	XP           level.XP          `json:"x"`          // capped at level.MaxXP
	Given        int64             `json:"g"`          // XP before the cap, rounded down; at most 1<<53
	FromLevel    bool              `json:"o,omitzero"` // the file has a level but no XP, so XP is the minimum of that level
	Shown        level.Level       `json:"s"`          // the level that the source shows; below 0 if not known
	MessageCount *int64            `json:"m,omitzero"` // nil if the file has none; 0 to 2^31-1
	User         *leaderboard.User `json:"d,omitzero"` // nil if the file has none
	Present      bool              `json:"p,omitzero"`
	Hidden       hidden.Flags      `json:"h,omitzero"`
	LastUpdated  time.Time         `json:"t,omitzero"` // zero if not known
}

// maxMessageCount is the highest message count that is accepted.
const maxMessageCount = 1<<31 - 1

// capped reports whether the file has more XP than a member can have.
func (r *Row) capped() bool { return r.Given > int64(level.MaxXP) }

// gain sets Given, and XP with its cap.
func (r *Row) gain(xp int64) {
	r.Given = min(xp, most)
	r.XP = level.XP(min(r.Given, int64(level.MaxXP)))
}

// newRow returns a present member with only an id.
func newRow(user string) (Row, Reason) {
	if !id.Valid(user) {
		return Row{}, badID(user)
	}
	return Row{UserID: id.User(user), Shown: noLevel, Present: true}, ""
}
