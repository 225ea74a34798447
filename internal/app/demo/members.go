package demo

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// The XP of a message in the demo's guild.
const (
	minXP = 15
	maxXP = 40
	// meanXP and spreadXP are the mean and the standard deviation of a uniform whole number from minXP to maxXP.
	meanXP   = 27.5
	spreadXP = 7.5
)

// Members makes up n members, the most active first, with their gains of the last 100 days. If n is more than 1, one is the
// guild's owner. The same n, seed and now give the same members. With another now, only their last updates and gains differ.
func Members(n int, seed uint64, now time.Time) []snapshot.Row {
	r := rand.New(rand.NewPCG(seed, 1))
	ids := userIDs(r, n)
	names := &namer{r: r, taken: map[string]bool{}}
	rows := make([]snapshot.Row, n)
	for i := range rows {
		messages, xp := activity(r)
		rows[i].Member = leaderboard.Member{
			UserID: ids[i], XP: xp, MessageCount: messages, LastUpdated: lastUpdate(r, messages, now), User: names.user(),
		}
	}
	slices.SortFunc(rows, func(a, b snapshot.Row) int {
		return cmp.Or(cmp.Compare(b.XP, a.XP), cmp.Compare(a.UserID, b.UserID))
	})
	history := rand.New(rand.NewPCG(seed, 3))
	for i := range rows {
		rows[i].Gains = gains(history, rows[i].Member, now)
	}
	if n > 1 {
		name := ownerName
		owner := &rows[min(n/20+1, n-1)].Member // not among the first: one of those is the plain member of Visitors
		owner.UserID, owner.User = OwnerID, leaderboard.User{Username: ownerUsername, GlobalName: &name}
	}
	return rows
}

// activity makes up a message count, log-normal (most members write little, a few write nearly
// everything), and the XP of so many messages: normal around their mean, within their minimum and maximum.
func activity(r *rand.Rand) (messages int64, xp level.XP) {
	n := math.Round(math.Exp(math.Log(60) + 1.75*r.NormFloat64()))
	n = min(max(n, 1), 1_000_000)
	gained := math.Round(n*meanXP + math.Sqrt(n)*spreadXP*r.NormFloat64())
	return int64(n), level.XP(min(max(gained, n*minXP), n*maxXP))
}

// lastUpdate makes up a time at most two years ago. The more a member writes, the more recent it is.
func lastUpdate(r *rand.Rand, messages int64, now time.Time) time.Time {
	const day = 24 * time.Hour
	days := 240 * r.ExpFloat64() / math.Pow(float64(messages), 0.7)
	age := time.Duration(min(days, 730) * float64(day))
	return now.Add(-age).UTC().Truncate(time.Millisecond)
}

// userIDs makes n different snowflakes of accounts created from 2016 to 2025. Their upper bits are milliseconds since 2015.
func userIDs(r *rand.Rand, n int) []id.User {
	const first, span = 366 * 24 * 3600 * 1000, 10 * 365 * 24 * 3600 * 1000
	ids := make([]id.User, 0, n)
	seen := make(map[uint64]bool, n)
	for len(ids) < n {
		snowflake := (first+r.Uint64N(span))<<22 | r.Uint64N(1<<22)
		if !seen[snowflake] {
			seen[snowflake] = true
			ids = append(ids, id.User(strconv.FormatUint(snowflake, 10)))
		}
	}
	return ids
}

// historyDays is how many days before today the gains begin. Days are in UTC, the zone of the demo's guild.
const historyDays = 100

// gains makes up a member's gains by day, oldest first, up to the day of the last update and
// at most all of their XP. A member who writes much gains on most days, most members on a few.
func gains(r *rand.Rand, m leaderboard.Member, now time.Time) (list []period.Gain) {
	const lived = 400 // the days over which the messages were written
	perDay := 3 + math.Sqrt(float64(m.MessageCount))/4
	gap := max(1, lived*perDay/float64(m.MessageCount)) // the average number of days from one active day to the one before
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
