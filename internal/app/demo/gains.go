package demo

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

// historyDays is how many days before today members have gains of, in UTC, the zone of the demo's guild.
const historyDays = 100

// gains are what a member gained day by day, oldest first, up to the day of the last update and at most all of their XP. Who writes much is there on
// most days, and most write on a few.
func gains(r *rand.Rand, m leaderboard.Member, now time.Time) (list []period.Gain) {
	const lived = 400 // days, in which the messages were written
	perDay := 3 + math.Sqrt(float64(m.MessageCount))/4
	gap := max(1, lived*perDay/float64(m.MessageCount)) // days from one active day to the one before, on average
	left := m.XP
	first := period.DayAt(now, time.UTC) - historyDays
	for day := period.DayAt(m.LastUpdated, time.UTC); day >= first && left >= minXP; day -= 1 + period.Day((gap-1)*r.ExpFloat64()+r.Float64()) {
		messages := 1 + int(perDay*r.ExpFloat64())
		gained := min(left, level.XP(messages*minXP+r.IntN(messages*(maxXP-minXP)+1)))
		list = append(list, period.Gain{Day: day, Gained: int64(gained)})
		left -= gained
	}
	slices.Reverse(list)
	return list
}
