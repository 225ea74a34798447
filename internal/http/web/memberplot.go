package web

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
)

const (
	// plotDays is how many days a member's plot shows, including today.
	plotDays = 365
	// The plot's measures, in its own units. It has marks to the left and months below.
	gainsLeft, gainsRight = 64, 736
	gainsTop, gainsBottom = 16, 150
)

// gainsPlot is a member's gains on each day of a year, as a drawing and, for people who cannot see it, as numbers.
type gainsPlot struct {
	Bars   string  // path with a line for each day
	Zero   float64 // height of the line for a gain of 0
	Up     []tick  // XP
	Months []tick
	Days   []dayGain // newest first, without days of no gain
	Total  int64
	Best   dayGain
}

type dayGain struct {
	Date   string
	Gained int64
}

// plotOf reads a member's gains. It returns nil if the guild counts none, and if the archive is down: the page is shown without the plot.
func (s *Site) plotOf(c *gin.Context, g *guild.Guild, user id.User) *gainsPlot {
	calendar := g.Calendar()
	if !calendar.Counts() {
		return nil
	}
	gains, err := s.deps.Periods.History(c.Request.Context(), g, user, plotDays)
	if err != nil {
		s.log.WarnContext(c.Request.Context(), "a member's page leaves out the plot of gains", "guild", g.ID, "error", err)
		return nil
	}
	return newPlot(gains, period.DayAt(s.deps.Now(), calendar.Zone))
}

// newPlot draws the gains of the year that ends with today. gains are oldest first.
func newPlot(gains []period.Gain, today period.Day) *gainsPlot {
	first := today + 1 - plotDays
	low, high := int64(0), int64(1)
	for _, g := range gains {
		low, high = min(low, g.Gained), max(high, g.Gained)
	}
	step, _ := scale(float64(max(high, -low)))
	top, bottom := math.Ceil(float64(high)/step)*step, math.Floor(float64(low)/step)*step
	up := func(xp float64) float64 {
		return math.Round(10*(gainsBottom-(xp-bottom)/(top-bottom)*(gainsBottom-gainsTop))) / 10
	}
	p := &gainsPlot{Zero: up(0), Months: months(first, today)}
	for xp := bottom; xp <= top; xp += step {
		p.Up = append(p.Up, tick{At: up(xp), Label: strings.Replace(shortXP(xp), "-", "−", 1)})
	}
	var bars strings.Builder
	for _, g := range gains {
		fmt.Fprintf(&bars, "M%g %gV%g", dayAt(int(g.Day-first)), p.Zero, up(float64(g.Gained)))
		day := dayGain{Date: dayDate(g.Day), Gained: g.Gained}
		p.Days = append(p.Days, day)
		p.Total += g.Gained
		if g.Gained > p.Best.Gained {
			p.Best = day
		}
	}
	slices.Reverse(p.Days)
	p.Bars = bars.String()
	return p
}

// months marks the first day of every second month.
func months(first, today period.Day) (marks []tick) {
	for month := period.At(period.Monthly, first); month.First <= today; month = period.At(period.Monthly, month.End) {
		begins := month.First.Begin(time.UTC)
		if month.First >= first && begins.Month()%2 == 1 {
			marks = append(marks, tick{At: dayAt(int(month.First - first)), Label: begins.Format("Jan")})
		}
	}
	return marks
}

// dayDate returns a day in words.
func dayDate(d period.Day) string { return d.Begin(time.UTC).Format(dateForm) }

// dayAt returns the position of the bar of the n-th day of the year.
func dayAt(n int) float64 {
	at := gainsLeft + (float64(n)+.5)*(gainsRight-gainsLeft)/plotDays
	return math.Round(10*at) / 10
}
