package web

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/period"
)

// zoneNames are UTC and the time zones of tzdata's zone.tab, which has those of every country:
//
//	(echo UTC; awk '!/^#/{print $3}' /usr/share/zoneinfo/zone.tab) | LC_ALL=C sort -u > zones.txt
//
//go:embed zones.txt
var zoneNames string

var zones = strings.Fields(zoneNames)

// Zones are the time zones to choose from. A guild may have any other of IANA.
func (*settingsPage) Zones() []string { return zones }

// kindBox is the box of a kind of period.
type kindBox struct {
	Name, Label string
	Ticked      bool
}

// Kinds are the boxes of the kinds that have boards.
func (p *settingsPage) Kinds() []kindBox {
	boxes := []kindBox{{Name: boxOf(period.Daily), Label: "Daily"}, {Name: boxOf(period.Weekly), Label: "Weekly, from Monday"}, {Name: boxOf(period.Monthly), Label: "Monthly"}}
	for i := range boxes {
		boxes[i].Ticked = p.Form.Fields[boxes[i].Name] != ""
	}
	return boxes
}

func boxOf(kind period.Kind) string { return "periods[" + string(kind) + "]" }

// ticked are the kinds that are ticked, shorter ones first.
func (f settingsForm) ticked() (kinds []string) {
	for _, kind := range []period.Kind{period.Daily, period.Weekly, period.Monthly} {
		if f.Fields[boxOf(kind)] != "" {
			kinds = append(kinds, string(kind))
		}
	}
	return kinds
}

// periods are the kinds that are ticked: first those that are saved, in their order, so that an unchanged form changes nothing.
func (f settingsForm) periods(saved *guild.Guild) any {
	list, now := []string{}, f.ticked()
	for _, kind := range saved.Periods {
		if slices.Contains(now, string(kind)) {
			list = append(list, string(kind))
		}
	}
	for _, kind := range now {
		if !slices.Contains(list, kind) {
			list = append(list, kind)
		}
	}
	return list
}

func (f settingsForm) seasons() any {
	list := []any{}
	for _, s := range f.Rows[seasons] {
		row := map[string]string{}
		for _, property := range []string{"id", "name", "start", "end"} {
			row[property] = strings.TrimSpace(s[property])
		}
		list = append(list, row)
	}
	return list
}

// runningPeriod says when a period ends that runs.
type runningPeriod struct {
	What, Name string // "Week 2026-W48", or "Season" with its name
	Ends       time.Time
	In         string // "in 3 days"
}

// Running are the periods that run by what is saved.
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
