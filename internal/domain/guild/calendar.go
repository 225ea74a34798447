package guild

import (
	"cmp"
	"fmt"
	"regexp"
	"sync"
	"time"

	"levelboard/internal/domain/period"
)

// Calendar returns the periods for which the guild counts gains. Settings that were never parsed count in UTC. It panics for a time zone that Parse
// rejects.
func (s *Settings) Calendar() period.Calendar {
	zone, err := loadZone(cmp.Or(s.TimeZone, "UTC"))
	if err != nil {
		panic("guild: settings with the time zone " + s.TimeZone + ", which Parse refuses: " + err.Error())
	}
	return period.Calendar{Zone: zone, Kinds: s.Periods, Seasons: s.Seasons}
}

// zoneName matches IANA's names. LoadLocation reads any file of the system's directory, such as localtime and right/UTC, which are no names of IANA,
// and accepts Europe//Paris, too.
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
