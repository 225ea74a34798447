package guild

import (
	"cmp"
	"fmt"
	"regexp"
	"sync"
	"time"
	"unicode/utf8"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/period"
)

const defaultTimeZone = "UTC"

// The bounds of a season.
const (
	maxSeasonName = 100 // characters
	maxSeasonDays = 400
)

// Calendar returns what the guild counts gains for. Settings that were never parsed count in UTC. It panics for a time zone that Parse refuses.
func (s *Settings) Calendar() period.Calendar {
	zone, err := loadZone(cmp.Or(s.TimeZone, defaultTimeZone))
	if err != nil {
		panic("guild: settings with the time zone " + s.TimeZone + ", which Parse refuses: " + err.Error())
	}
	return period.Calendar{Zone: zone, Kinds: s.Periods, Seasons: s.Seasons}
}

// zoneName is what IANA's names look like. LoadLocation reads any file of the system's directory, such as localtime and right/UTC,
// which are no names of IANA, and takes Europe//Paris too.
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*)*$`)

// zones are the time zones that were loaded, by name: a *time.Location each. Names are IANA's, so they are some hundreds at most.
var zones sync.Map

// loadZone returns the time zone with this name of IANA.
func loadZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if name == "Local" || !zoneName.MatchString(name) {
		return nil, fmt.Errorf("%q is not the name of a time zone", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	kept, _ := zones.LoadOrStore(name, zone)
	return kept.(*time.Location), nil
}

type seasonDocument struct {
	ID    string `json:"id"`
	Name  string `json:"name" bytes:"1..256"`
	Start string `json:"start"`
	End   string `json:"end"`
}

// calendar reads what Calendar returns.
func (d *document) calendar(s *Settings) (err error) {
	s.TimeZone = d.TimeZone.Or(defaultTimeZone)
	if _, err := loadZone(s.TimeZone); err != nil {
		return fault.At("timeZone", "must be the name of a time zone of the IANA database, such as Europe/Berlin or UTC").Because(err)
	}
	if s.Periods, err = parseKinds(d.Periods.Or(nil)); err != nil {
		return err
	}
	s.Seasons, err = parseSeasons(d.Seasons.Or(nil))
	return err
}

func parseKinds(kinds []period.Kind) ([]period.Kind, error) {
	seen := make(map[period.Kind]bool)
	for i, kind := range kinds {
		path := fmt.Sprintf("periods[%d]", i)
		if kind != period.Daily && kind != period.Weekly && kind != period.Monthly {
			return nil, fault.At(path, "must be %q, %q or %q", period.Daily, period.Weekly, period.Monthly)
		}
		if seen[kind] {
			return nil, fault.At(path, "repeats %s; remove one of them", kind)
		}
		seen[kind] = true
	}
	if len(kinds) == 0 {
		return nil, nil
	}
	return kinds, nil
}

func parseSeasons(documents []seasonDocument) ([]period.Season, error) {
	var list []period.Season
	for i, d := range documents {
		path := fmt.Sprintf("seasons[%d]", i)
		s, err := parseSeason(path, d)
		if err != nil {
			return nil, err
		}
		for j, other := range list {
			if s.ID == other.ID {
				return nil, fault.At(path+".id", "repeats %s; give each season an id of its own", s.ID)
			}
			if s.Start < other.End && other.Start < s.End {
				return nil, fault.At(path, "overlaps seasons[%d], whose start is %s and whose end is %s; move one of them", j, other.Start, other.End)
			}
		}
		list = append(list, s)
	}
	return list, nil
}

func parseSeason(path string, d seasonDocument) (s period.Season, err error) {
	if !period.ValidSeasonID(d.ID) {
		return s, fault.At(path+".id", "must be 1 to 32 of a to z, 0 to 9 and -")
	}
	if utf8.RuneCountInString(d.Name) > maxSeasonName {
		return s, fault.At(path+".name", "must be at most %d characters long", maxSeasonName)
	}
	s.ID, s.Name = d.ID, d.Name
	if s.Start, err = period.ParseDay(d.Start); err != nil {
		return s, notDate(path+".start", err)
	}
	if s.End, err = period.ParseDay(d.End); err != nil {
		return s, notDate(path+".end", err)
	}
	if days := s.End - s.Start; days < 1 || days > maxSeasonDays {
		return s, fault.At(path+".end", "must be 1 to %d days after start, which is %s; it is the first day after the season", maxSeasonDays, s.Start)
	}
	return s, nil
}

func notDate(path string, err error) error {
	return fault.At(path, "must be a date in the years 1970 to 9999, such as 2026-12-01").Because(err)
}

func seasonDocuments(seasons []period.Season) []seasonDocument {
	list := make([]seasonDocument, len(seasons))
	for i, s := range seasons {
		list[i] = seasonDocument{ID: s.ID, Name: s.Name, Start: s.Start.String(), End: s.End.String()}
	}
	return list
}
