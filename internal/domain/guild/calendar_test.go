package guild_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // embedded, as in the binary

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/period"
)

func TestTheCalendarHasZoneKindsAndSeasons(t *testing.T) {
	s := parse(t, with(`"timeZone":"Europe/Berlin","periods":["week","day"],"seasons":[`+spring+`,`+winter+`]`))
	c := s.Calendar()
	if c.Zone.String() != "Europe/Berlin" || !reflect.DeepEqual(c.Kinds, s.Periods) || !reflect.DeepEqual(c.Seasons, s.Seasons) || !c.Counts() {
		t.Errorf("the calendar is %+v, want Europe/Berlin with the settings' kinds and seasons", c)
	}
	if start, _ := c.Seasons[1].Period().Bounds(c.Zone); start.Format(time.RFC3339) != "2026-11-30T23:00:00Z" {
		t.Errorf("the winter season starts at %s, want midnight in Berlin", start)
	}
	if again := s.Calendar(); again.Zone != c.Zone {
		t.Error("the time zone was loaded twice, want it cached")
	}
	if allocs := testing.AllocsPerRun(100, func() { s.Calendar() }); allocs > 1 {
		t.Errorf("Calendar makes %v allocations, want at most 1", allocs)
	}
	for name, s := range map[string]guild.Settings{"never parsed": {}, "with the defaults": parse(t, with(""))} {
		if c := s.Calendar(); c.Zone != time.UTC || c.Counts() {
			t.Errorf("the calendar of settings %s is %+v, want UTC without periods", name, c)
		}
	}
}

func TestCalendarPanicsForAnUnknownZone(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Calendar did not panic")
		}
	}()
	(&guild.Settings{TimeZone: "Local"}).Calendar()
}

func TestTimeZonesKeepTheirNames(t *testing.T) {
	for _, name := range []string{
		"UTC", "Etc/UTC", "GMT", "Etc/GMT+12", "EST5EDT", "W-SU", "GB-Eire", "NZ-CHAT", "US/Eastern", "Asia/Calcutta", "Asia/Kolkata", "America/Port-au-Prince",
		"America/Argentina/ComodRivadavia", "America/North_Dakota/New_Salem", "Africa/Sao_Tome", "Pacific/Apia", "Antarctica/DumontDUrville",
	} {
		s := parse(t, with(`"timeZone":"`+name+`"`))
		if s.TimeZone != name || s.Calendar().Zone.String() != name {
			t.Errorf("the zone %s became %s in the settings or the calendar", name, s.TimeZone)
		}
		roundTrip(t, s)
	}
}

func TestSeasonsAreAcceptedUpToTheirBounds(t *testing.T) {
	for _, document := range []string{
		season(`"start":"2026-12-01","end":"2026-12-02"`), season(`"start":"2026-12-01","end":"2028-01-05"`), season(`"start":"1970-01-01","end":"1970-01-02"`),
		season(`"start":"9999-12-30","end":"9999-12-31"`), seasons(winter, spring), seasons(spring, winter),
		seasons(strings.Replace(winter, "winter", "0123456789-abcdefghijklmnopqrst-", 1)), seasons(strings.Replace(winter, "Snow", strings.Repeat("é", 100), 1)),
		seasons(strings.Replace(winter, "Snow", strings.Repeat("🌱", 100), 1)),
	} {
		roundTrip(t, parse(t, document))
	}
}

// The archive may hold documents without these properties.
func TestUnmarshalFillsInMissingProperties(t *testing.T) {
	old := `{"id":"100000000000000000","name":"Gophers","icon":null,"memberCount":5,"ownerId":"200000000000000001","adminIds":[],"enabled":true,` +
		`"visibility":"public","vanity":null,"curve":"default","xpGainInterval":60000,"xpPerMessageMin":15,"xpPerMessageMax":40,"xpGlobalMultiplier":1,` +
		`"ignoredChannelIds":[],"ignoredRoleIds":[],"multipliers":[],"roleRewards":[]}`
	s, err := guild.Unmarshal([]byte(old))
	if err != nil || s.TimeZone != "UTC" || s.Periods != nil || s.Seasons != nil {
		t.Errorf("the old document is read as %+v (%v), want UTC without periods", s, err)
	}
	if fresh := parse(t, with("")); !guild.Same(s, fresh) {
		t.Errorf("the old document %+v differs from a new one %+v", s, fresh)
	}
	for _, changed := range []func(*guild.Settings){
		func(s *guild.Settings) { s.TimeZone = "Europe/Berlin" },
		func(s *guild.Settings) { s.Periods = []period.Kind{period.Daily} },
		func(s *guild.Settings) { s.Seasons = []period.Season{{ID: "a", Name: "a", Start: 1, End: 2}} },
	} {
		other := s
		if changed(&other); guild.Same(s, other) {
			t.Errorf("the changed document %+v counts as the same", other)
		}
	}
}
