package web

import (
	_ "embed"
	"strings"
	"time"

	"levelboard/internal/domain/period"
)

// zoneNames are UTC and the time zones in tzdata's zone.tab, which lists those of every country:
//
//	(echo UTC; awk '!/^#/{print $3}' /usr/share/zoneinfo/zone.tab) | LC_ALL=C sort -u > zones.txt
//
//go:embed zones.txt
var zoneNames string

var zones = strings.Fields(zoneNames)

// Zones returns the time zones to choose from. A guild may have any other IANA time zone.
func (*settingsPage) Zones() []string { return zones }

// runningPeriod says when a running period ends.
type runningPeriod struct {
	What, Name string // "Week 2026-W48", or "Season" with its name
	Ends       time.Time
	In         string // "in 3 days"
}

// Running returns the periods that are running by the saved settings.
func (p *settingsPage) Running() (list []runningPeriod) {
	calendar := p.Guild.Calendar()
	for _, one := range calendar.Running(period.DayAt(p.Now, calendar.Zone)) {
		_, ends := one.Bounds(calendar.Zone)
		kind := string(one.Kind)
		what := strings.ToUpper(kind[:1]) + kind[1:]
		if one.Kind != period.Seasonal {
			what += " " + one.ID
		}
		list = append(list, runningPeriod{What: what, Name: one.Name, Ends: ends.In(calendar.Zone), In: until(p.Now, ends)})
	}
	return list
}
