package leaderboard

import (
	"context"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
)

// Position is a member's rank on the board of all time and on those of running periods, at one moment.
type Position struct {
	Ranked
	Of      int64            // members on the board; for a hidden member, one more
	Ahead   *Ahead           // the member one rank above; nil for the first
	Flags   hidden.Flags     // who hid the member
	Periods []PeriodPosition // in the order of the request
}

// Ahead is the member one rank above another.
type Ahead struct {
	UserID id.User  `json:"userId"`
	XP     level.XP `json:"xp"`
}

// PeriodPosition is a member's rank in a running period.
type PeriodPosition struct {
	period.Period
	Rank   int64 // 0 for a member who is not on the board, with a gain of 0 or below
	Gained int64
}

// TopPercent returns which part of the members has this rank or a better one, in hundredths of a percent, rounded up: 10000 means all.
func (p *Position) TopPercent() int64 { return (10000*p.Rank + p.Of - 1) / p.Of }

// MaxAround is the maximum number of members that one Around reads.
const MaxAround = 100

// Window says which part of a board to read around a member.
type Window struct {
	Limit  int64          // 1 to MaxAround members; with an even limit, one more is above than below
	Period *period.Period // a running one; nil for the board of all time
}

// Around is a part of a board with a member in its middle. At the ends of the board it has as many rows as elsewhere, if the board has as many.
type Around struct {
	Of   int64      // members on the board
	Rows []Standing // Gained is 0 on the board of all time
}

// Position reads a member's rank on the board of all time and on those of these running periods. It loads boards that the live store lacks.
func (l *Leaderboard) Position(ctx context.Context, g *guild.Guild, user id.User, running []period.Period) (Position, error) {
	return loaded(ctx, l, g, "read a member's position", func() (Position, error) {
		return l.board.Position(ctx, Ref(g), user, running)
	})
}

// Around reads a part of a board with a member in its middle. It loads a period's board if the live store lacks it.
func (l *Leaderboard) Around(ctx context.Context, g *guild.Guild, user id.User, w Window) (Around, error) {
	return loaded(ctx, l, g, "read around a member", func() (Around, error) { return l.board.Around(ctx, Ref(g), user, w) })
}
