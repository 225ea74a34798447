package importer

import (
	"time"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// noLevel is the Shown of a row whose source shows no level.
const noLevel level.Level = -1

// Row is a member as a file has it. The tags are of the spool.
type Row struct {
	File         int               `json:"f,omitzero"` // index in Report.Files
	Line         int               `json:"l"`          // on which the member begins, from 1
	UserID       id.User           `json:"u"`
	XP           level.XP          `json:"x"`          // capped at level.MaxXP
	Given        int64             `json:"g"`          // XP before the cap, rounded down; ends at 1<<53
	FromLevel    bool              `json:"o,omitzero"` // the file has a level only, and XP is the least of it
	Shown        level.Level       `json:"s"`          // that the source shows for the member; below 0 when not known
	MessageCount *int64            `json:"m,omitzero"` // nil when the file has none; 0 to 2^31-1
	User         *leaderboard.User `json:"d,omitzero"` // nil when the file has none
	Present      bool              `json:"p,omitzero"`
	Hidden       hidden.Flags      `json:"h,omitzero"`
	LastUpdated  time.Time         `json:"t,omitzero"` // zero when not known
}

// maxMessageCount is the highest message count that is read.
const maxMessageCount = 1<<31 - 1

// capped reports that the file has more XP than a member can have.
func (r *Row) capped() bool { return r.Given > int64(level.MaxXP) }

// gain sets the XP and its cap.
func (r *Row) gain(xp int64) {
	r.Given = min(xp, most)
	r.XP = level.XP(min(r.Given, int64(level.MaxXP)))
}

// newRow returns a present member without other data.
func newRow(user string) (Row, Reason) {
	if !id.Valid(user) {
		return Row{}, badID(user)
	}
	return Row{UserID: id.User(user), Shown: noLevel, Present: true}, ""
}
