package guild

import (
	"cmp"
	"fmt"
	"regexp"
	"sync"
	"time"

	"levelboard/internal/domain/period"
)

// Calendar returns the periods for which the guild counts gains. Settings that did not come from
// Parse may lack a time zone; they count in UTC. It panics for a time zone that Parse rejects.
func (s *Settings) Calendar() period.Calendar {
	zone, err := loadZone(cmp.Or(s.TimeZone, "UTC"))
	if err != nil {
		panic("guild: settings with the time zone " + s.TimeZone + ", which Parse rejects: " + err.Error())
	}
	return period.Calendar{Zone: zone, Kinds: s.Periods, Seasons: s.Seasons}
}

// zoneName matches IANA's names. time.LoadLocation accepts more: Europe//Paris,
// and any file of the system's directory, such as localtime and right/UTC.
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*)*$`)

// zones caches the loaded time zones by name: a *time.Location each. IANA has only some hundreds of names.
var zones sync.Map

// loadZone returns the time zone with this IANA name.
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
