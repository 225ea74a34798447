package app_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

var periodCases = cases{
	"running boards":                 runningBoards,
	"what does not count":            whatDoesNotCount,
	"messages count":                 messagesCount,
	"deletion":                       deletionEndsGains,
	"without a period":               pagesWithoutPeriod,
	"who may read":                   whoMayReadPeriods,
	"bad queries":                    badPeriodQueries,
	"not found":                      periodsNotFound,
	"ETags":                          periodETags,
	"a page past the end":            periodPages,
	"the list":                       listOfPeriods,
	"activity and history":           activityAndHistory,
	"nothing configured":             nothingConfigured,
	"closed boards stay":             closedBoardsStay,
	"caches keep closed boards":      cachesKeepClosedBoards,
	"a closed period is an event":    closedPeriodIsAnEvent,
	"a season that nobody gained in": emptySeasonCloses,
	"a day closes by another zone":   anotherZoneClosesTheDay,
}

func TestPeriods(t *testing.T) { runOnEachSetup(t, periodCases, often) }

// atNoon is a time zone in which it is about noon, so that no test runs over midnight.
func atNoon() string {
	switch ahead := 12 - time.Now().UTC().Hour(); {
	case ahead > 0:
		return fmt.Sprintf("Etc/GMT-%d", ahead) // the sign is that of POSIX
	case ahead < 0:
		return fmt.Sprintf("Etc/GMT+%d", -ahead)
	}
	return "UTC"
}

// day is a day in that zone, from today on.
func day(t *testing.T, from int) period.Day {
	t.Helper()
	zone, err := time.LoadLocation(atNoon())
	if err != nil {
		t.Fatal(err)
	}
	return period.DayAt(time.Now(), zone) + period.Day(from)
}

// season is one of a guild's settings, by days from today.
func season(t *testing.T, id string, start, end int) object {
	t.Helper()
	return object{"id": id, "name": "The " + id, "start": day(t, start).String(), "end": day(t, end).String()}
}

// counting are settings with all kinds of periods, and over them what over says.
func counting(t *testing.T, over object) object {
	t.Helper()
	s := object{"timeZone": atNoon(), "periods": []string{"day", "week", "month"}, "seasons": []object{season(t, "now", -3, 3)}}
	for name, value := range over {
		s[name] = value
	}
	return s
}

func periodPath(entry, period string, page int) string {
	return boardPath(entry, page) + "&period=" + period
}

func periodsPath(entry string) string  { return "/v2/levels/" + entry + "/periods?page=1" }
func activityPath(entry string) string { return "/v2/levels/" + entry + "/activity?days=366" }
func historyPath(g, u string) string {
	return "/v2/guilds/" + g + "/members/" + u + "/history?days=366"
}

// thePeriod is what answers say of a period.
type thePeriod struct {
	ID, Kind   string
	Name       *string
	Start, End time.Time
	Closed     bool
}

// periodBoard is a page of a period's board.
type periodBoard struct {
	board
	Period thePeriod
	Levels []struct {
		Gained, Level, MessageCount, Rank, XP int
		User                                  object
		UserID                                string
	}
}

// rows are the members with their ranks and gains.
func (b periodBoard) rows() (rows []string) {
	for _, l := range b.Levels {
		rows = append(rows, fmt.Sprintf("%d %s %d", l.Rank, l.UserID, l.Gained))
	}
	return rows
}

func (s *service) periodBoard(key, entry, period string) periodBoard {
	s.t.Helper()
	return apitest.JSON[periodBoard](s.t, s.Do("GET", periodPath(entry, period, 1), key, nil).Want(s.t, 200))
}

func (s *service) wantRows(g, period string, want ...string) {
	s.t.Helper()
	if got := s.periodBoard("", g, period).rows(); !slices.Equal(got, want) {
		s.t.Errorf("%s: the rows are %v, want %v", period, got, want)
	}
}

func row(rank int, u string, gained int) string { return fmt.Sprintf("%d %s %d", rank, u, gained) }

var kinds = []string{"day", "week", "month", "season"}

// gain adds to a member's XP, and makes the member first if it is not there.
func (s *service) gain(key, g, u string, xp int) {
	s.t.Helper()
	if s.Do("GET", memberPath(g, u), key, nil).Status == 404 {
		s.create(key, g, u, 0)
	}
	s.patch(key, g, u, object{"increment": xp})
}

func runningBoards(t *testing.T, s *service) {
	g, a, b, c := s.guild(counting(t, nil)), newID(), newID(), newID()
	key := s.key(g)
	for _, u := range []string{a, b, c} {
		s.create(key, g, u, 1000)
	}
	s.patch(key, g, a, object{"increment": 50})
	s.patch(key, g, b, object{"increment": 70})
	s.patch(key, g, c, object{"increment": 10})
	s.patch(key, g, b, object{"decrement": 30})
	s.patch(key, g, c, object{"decrement": 11})
	ids := map[string]string{
		"day": day(t, 0).String(), "week": period.At(period.Weekly, day(t, 0)).ID, "month": period.At(period.Monthly, day(t, 0)).ID, "season": "season-now",
	}
	zone, err := time.LoadLocation(atNoon())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		s.wantRows(g, kind, row(1, a, 50), row(2, b, 40))
		s.wantRows(g, ids[kind], row(1, a, 50), row(2, b, 40))
		got := s.periodBoard("", g, kind)
		p := period.At(period.Daily, day(t, 0))
		if kind == "season" {
			p.First, p.End = day(t, -3), day(t, 3)
		} else {
			p = period.At(period.Kind(kind), day(t, 0))
		}
		starts, ends := p.Bounds(zone)
		if now := got.Period; now.ID != ids[kind] || now.Kind != kind || now.Closed || !now.Start.Equal(starts) || !now.End.Equal(ends) {
			t.Errorf("%s: %+v, want %s from %s to %s", kind, now, ids[kind], starts, ends)
		}
		if name := got.Period.Name; kind == "season" && (name == nil || *name != "The now") || kind != "season" && name != nil {
			t.Errorf("%s: the name is %v", kind, name)
		}
		if first := got.Levels[0]; first.XP != 1050 || first.Level != 5 {
			t.Errorf("%s: %+v", kind, first)
		}
	}
	got := s.Do("HEAD", periodPath(g, "week", 1), "", nil).Want(t, 200)
	wantNoBody(t, got)
	wantHeader(t, got, "Cache-Control", "public, no-cache")
	s.patch(key, g, c, object{"increment": 60}) // 59 in all: first
	s.wantRows(g, "day", row(1, c, 59), row(2, a, 50), row(3, b, 40))
}

func whatDoesNotCount(t *testing.T, s *service) {
	g, u := s.guild(counting(t, nil)), newID()
	key := s.key(g)
	s.create(key, g, u, 2147483600)
	s.patch(key, g, u, 2147483640)
	s.wantRows(g, "day")
	s.patch(key, g, u, object{"increment": 100}) // 7 up to the maximum
	s.patch(key, g, u, 3)
	s.wantRows(g, "day", row(1, u, 7))
	s.patch(key, g, u, object{"decrement": 100}) // 3 down to 0
	s.wantRows(g, "day", row(1, u, 4))
}

func messagesCount(t *testing.T, s *service) {
	g, a, b := s.guild(counting(t, exactly(25, nil))), newID(), newID()
	key := s.key(g)
	s.award(key, g, message(a, nil), message(b, nil), message(a, nil)) // the second one of a is within the cooldown
	s.patch(key, g, a, object{"increment": 5})
	for _, kind := range kinds {
		s.wantRows(g, kind, row(1, a, 30), row(2, b, 25))
	}
}

func deletionEndsGains(t *testing.T, s *service) {
	g, a, b := s.guild(counting(t, nil)), newID(), newID()
	key := s.key(g)
	s.gain(key, g, a, 50)
	s.gain(key, g, b, 20)
	s.Do("DELETE", memberPath(g, a), key, nil).Want(t, 204)
	for _, kind := range kinds {
		s.wantRows(g, kind, row(1, b, 20))
	}
	s.Do("GET", historyPath(g, a), key, nil).Want(t, 404)
	s.gain(key, g, a, 5)
	for _, kind := range kinds {
		s.wantRows(g, kind, row(1, b, 20), row(2, a, 5))
	}
}

func pagesWithoutPeriod(t *testing.T, s *service) {
	g, u := s.guild(counting(t, nil)), newID()
	s.gain(s.key(g), g, u, 50)
	got := string(s.Do("GET", boardPath(g, 1), "", nil).Want(t, 200).Body)
	if strings.Contains(got, `"period"`) || strings.Contains(got, `"gained"`) {
		t.Errorf("the page of all time is %s", got)
	}
	if s.etag("", g, 1) == s.Do("GET", periodPath(g, "day", 1), "", nil).Want(t, 200).Header.Get("ETag") {
		t.Error("the page of today has the ETag of the page of all time")
	}
}

func whoMayReadPeriods(t *testing.T, s *service) {
	boss := newID()
	g, u := s.guild(counting(t, object{"ownerId": boss, "visibility": "private"})), newID()
	key := s.key(g)
	_, ofBoss := s.mint(object{"guildIds": []string{g}, "ownerId": boss, "permission": "read"})
	s.gain(key, g, u, 50)
	paths := []string{periodPath(g, "day", 1), periodPath(g, day(t, -1).String(), 1), periodsPath(g), activityPath(g), historyPath(g, u)}
	for i, path := range paths {
		for _, method := range []string{"GET", "HEAD"} {
			s.Do(method, path, "", nil).Want(t, 401)
			s.Do(method, path, "lb_wrong", nil).Want(t, 401)
			s.Do(method, path, s.key(), nil).Want(t, 403)
			if i != 1 {
				got := s.Do(method, path, key, nil).Want(t, 200)
				wantHeader(t, got, "Cache-Control", "private, no-cache")
				wantLimits(t, got)
			}
		}
	}
	if s.periodBoard(key, g, "day").IsManager || !s.periodBoard(ofBoss, g, "day").IsManager {
		t.Error("isManager is not the caller's")
	}
	s.admin("PUT", "/guilds/"+g, settings(counting(t, nil))).Want(t, 200)
	for i, path := range paths {
		s.Do("GET", path, "lb_wrong", nil).Want(t, 401)
		want := 200
		if i == 1 {
			want = 404
		}
		if i == 4 {
			want = 401
		}
		s.Do("GET", path, "", nil).Want(t, want)
	}
	s.admin("PUT", "/guilds/"+g, settings(counting(t, object{"enabled": false}))).Want(t, 200)
	for _, path := range paths[:4] {
		s.Do("GET", path, key, nil).Want(t, 404)
	}
	s.Do("GET", paths[4], key, nil).Want(t, 200)
}

// badPeriodNames are no names of periods.
var badPeriodNames = []string{
	"", "Day", "weeks", "year", "2026", "2026-1", "2026-13", "2026-00", "2026-11-31", "2026-02-29", "2026-11-2", "2026-W00", "2026-W54", "2025-W53", "2026-w48",
	"2026W48", "season", "season-", "season-A", "season-winter_26", "season-" + strings.Repeat("a", 33), "1969-12-31", "10000-01-01", "day%20", "%00", "2026-11-25T00:00",
}

func badPeriodQueries(t *testing.T, s *service) {
	g, u, unknown := s.guild(counting(t, object{"seasons": []object{}})), newID(), newID()
	key := s.key(g)
	s.create(key, g, u, 1)
	refused := func(path string) {
		t.Helper()
		// The shape of a query is looked at before the guild is.
		for _, on := range []string{g, unknown} {
			path := strings.ReplaceAll(path, "{guild}", on)
			got, err := s.quick("GET", path, key, "")
			if err != nil || got.Status != 400 {
				t.Errorf("%s is %d %s, %v, want 400", path, got.Status, got.Body, err)
			}
		}
	}
	for _, name := range badPeriodNames {
		if name != "season" {
			refused("/v2/levels/{guild}?page=1&period=" + name)
		}
	}
	for _, q := range []string{"?period=day", "?page=0&period=day", "?page=1&period=day&period=day", "?page=1&period=day&period=week", "?page=1&period"} {
		refused("/v2/levels/{guild}" + q)
	}
	for _, q := range []string{"", "?page=0", "?page=x", "?kind=day", "?page=1&kind=", "?page=1&kind=Week", "?page=1&kind=year", "?page=1&kind=day&kind=day", "?page=1&page=2"} {
		refused("/v2/levels/{guild}/periods" + q)
	}
	for _, q := range []string{"", "?days=", "?days=0", "?days=367", "?days=-1", "?days=1.5", "?days=01", "?days=99999999999999999999", "?days=1&days=1", "?days=1&x=1&x=2"} {
		refused("/v2/levels/{guild}/activity" + q)
		refused("/v2/guilds/{guild}/members/" + u + "/history" + q)
	}
	for _, path := range []string{"/v2/levels/a-b/periods?page=1", "/v2/levels/a-b/activity?days=1", "/v2/guilds/1/members/" + u + "/history?days=1", "/v2/guilds/" + g + "/members/1/history?days=1"} {
		refused(path)
	}
	s.Do("GET", periodPath(g, "day", 1)+"&unknown=1", "", nil).Want(t, 200)
	for _, path := range []string{periodsPath(g), activityPath(g), historyPath(g, u)} {
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			s.Do(method, path, key, nil).Want(t, 405)
		}
	}
}

func periodsNotFound(t *testing.T, s *service) {
	g := s.guild(counting(t, object{"periods": []string{"week"}, "seasons": []object{season(t, "later", 5, 9)}}))
	key := s.key(g)
	for _, name := range []string{
		"day", "month", "season", day(t, 0).String(), period.At(period.Monthly, day(t, 0)).ID, "season-other", "season-later", "1999-W01", "9999-W01", "2001-01-01",
	} {
		wantFailure(t, s.Do("GET", periodPath(g, name, 1), "", nil), 404)
	}
	s.Do("GET", periodPath(g, "week", 1), "", nil).Want(t, 200)
	unknown := newID()
	for _, path := range []string{periodPath(unknown, "day", 1), periodsPath(unknown), activityPath(unknown), historyPath(unknown, newID()), historyPath(g, newID())} {
		s.Do("GET", path, key, nil).Want(t, 404)
	}
}

func periodETags(t *testing.T, s *service) {
	vanity := "p" + newID()[10:]
	g, u := s.guild(counting(t, object{"vanity": vanity})), newID()
	key := s.key(g)
	s.gain(key, g, u, 50)
	etag := func(name string) string {
		t.Helper()
		return s.Do("GET", periodPath(g, name, 1), "", nil).Want(t, 200).Header.Get("ETag")
	}
	seen := map[string]string{s.etag("", g, 1): "all time"}
	for _, kind := range kinds {
		now := etag(kind)
		if other, ok := seen[now]; ok {
			t.Errorf("%s has the ETag of %s", kind, other)
		}
		seen[now] = kind
		for _, path := range []string{periodPath(g, kind, 1), periodPath(vanity, kind, 1)} {
			got := s.Do("GET", path, "", nil, apitest.Header("If-None-Match", now)).Want(t, 304)
			wantNoBody(t, got)
			wantHeader(t, got, "ETag", now)
			s.Do("HEAD", path, "", nil, apitest.Header("If-None-Match", now)).Want(t, 304)
		}
	}
	if etag("day") != etag(day(t, 0).String()) {
		t.Error("today has two ETags")
	}
	before := etag("day")
	s.patch(key, g, u, object{"increment": 1})
	if after := etag("day"); after == before {
		t.Error("after a change the ETag is the same")
	}
	s.Do("GET", periodPath(g, "day", 1), "", nil, apitest.Header("If-None-Match", before)).Want(t, 200)
	before = etag("season")
	s.admin("PUT", "/guilds/"+g, settings(counting(t, object{"vanity": vanity, "seasons": []object{season(t, "now", -4, 3)}}))).Want(t, 200)
	if after := etag("season"); after == before {
		t.Error("with other dates the ETag is the same")
	}
}

func periodPages(t *testing.T, s *service) {
	g := s.guild(counting(t, nil))
	key, users := s.key(g), map[string]bool{}
	for call := range 3 {
		var messages []object
		for range 50 {
			u := newID()
			users[u] = true
			messages = append(messages, message(u, nil))
		}
		if got := s.award(key, g, messages...); len(got) != 50 {
			t.Fatalf("call %d: %d results", call, len(got))
		}
	}
	seen := 0
	for page, want := range map[int]int{1: 100, 2: 50, 3: 0, 1 << 50: 0} {
		got := apitest.JSON[periodBoard](t, s.Do("GET", periodPath(g, "week", page), "", nil).Want(t, 200))
		if len(got.Levels) != want || got.Period.Kind != "week" {
			t.Errorf("page %d has %d levels, want %d", page, len(got.Levels), want)
		}
		for i, l := range got.Levels {
			if l.Rank != 100*(page-1)+i+1 || !users[l.UserID] || l.Gained < 15 || l.Gained > 40 {
				t.Errorf("page %d: %+v at %d", page, l, i)
			}
			seen++
		}
	}
	if seen != 150 {
		t.Errorf("%d levels in all", seen)
	}
	s.Do("GET", "/v2/levels/"+g+"?page=99999999999999999999&period=week", "", nil).Want(t, 200)
}

// listed is what a list of periods says of one.
type listed struct {
	thePeriod
	Members, Gained int
	Winners         []struct {
		Rank, Gained int
		UserID       string
		User         object
	}
}

func (s *service) periods(key, path string) []listed {
	s.t.Helper()
	return apitest.JSON[struct{ Periods []listed }](s.t, s.Do("GET", path, key, nil).Want(s.t, 200)).Periods
}

func listOfPeriods(t *testing.T, s *service) {
	g := s.guild(counting(t, nil))
	key := s.key(g)
	var users []string
	for i := range 5 {
		users = append(users, newID())
		s.gain(key, g, users[i], 10*(i+1))
	}
	s.patch(key, g, users[0], object{"decrement": 10})
	all := s.periods("", periodsPath(g))
	if len(all) != 4 {
		t.Fatalf("%d periods: %+v", len(all), all)
	}
	if !slices.IsSortedFunc(all, func(a, b listed) int {
		return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.End.Sub(a.Start), b.End.Sub(b.Start)))
	}) {
		t.Errorf("the order is wrong: %+v", all)
	}
	for _, p := range all {
		if p.Closed || p.Members != 4 || p.Gained != 140 || len(p.Winners) != 3 {
			t.Errorf("%+v", p)
			continue
		}
		for i, w := range p.Winners {
			if w.Rank != i+1 || w.UserID != users[4-i] || w.Gained != 50-10*i || w.User["username"] != "gopher" {
				t.Errorf("%s: winner %+v", p.ID, w)
			}
		}
	}
	for _, kind := range kinds {
		if of := s.periods("", periodsPath(g)+"&kind="+kind); len(of) != 1 || of[0].Kind != kind {
			t.Errorf("of kind %s: %+v", kind, of)
		}
	}
	if next := s.periods("", "/v2/levels/"+g+"/periods?page=2"); next == nil || len(next) != 0 {
		t.Errorf("page 2: %+v", next)
	}
	s.Do("GET", "/v2/levels/"+g+"/periods?page=99999999999999999999", "", nil).Want(t, 200)
	s.Do("HEAD", periodsPath(g), "", nil).Want(t, 200)
	wantHeader(t, s.Do("GET", periodsPath(g), "", nil), "Cache-Control", "private, no-cache")
}

// days is the answer to activity and history.
type days struct {
	Days []struct {
		Date            string
		Gained, Members int
	}
}

func (d days) String() string {
	var all []string
	for _, one := range d.Days {
		all = append(all, fmt.Sprintf("%s %d %d", one.Date, one.Gained, one.Members))
	}
	return strings.Join(all, ", ")
}

func (s *service) days(key, path string) days {
	s.t.Helper()
	return apitest.JSON[days](s.t, s.Do("GET", path, key, nil).Want(s.t, 200))
}

// seed gives a guild that nobody has used yet members with gains on days from today on.
func (s *service) seed(g string, gains map[string]map[int]int64) {
	s.t.Helper()
	var rows []snapshot.Row
	for u, days := range gains {
		r := snapshot.Row{Member: leaderboard.Member{UserID: id.User(u), XP: 500, User: leaderboard.User{Username: "seeded", Discriminator: "0"}}}
		for from, gained := range days {
			r.Gains = append(r.Gains, period.Gain{Day: day(s.t, from), Gained: gained})
			r.XP += level.XP(gained)
		}
		rows = append(rows, r)
	}
	if err := s.app.SeedMembers(s.t.Context(), id.Guild(g), rows); err != nil {
		s.t.Fatal(err)
	}
}

func activityAndHistory(t *testing.T, s *service) {
	g, a, b := s.guild(counting(t, nil)), newID(), newID()
	key := s.key(g)
	s.seed(g, map[string]map[int]int64{a: {-2: 30, -1: 5}, b: {-2: -10}})
	s.wantRows(g, "season", row(1, a, 35))
	s.patch(key, g, a, object{"increment": 7})
	s.patch(key, g, b, object{"increment": 9})
	s.wantRows(g, "season", row(1, a, 42))
	s.wantRows(g, "day", row(1, b, 9), row(2, a, 7))
	today, yesterday, before := day(t, 0).String(), day(t, -1).String(), day(t, -2).String()
	want := fmt.Sprintf("%s 30 0, %s 5 0, %s 7 0", before, yesterday, today)
	if got := s.days(key, historyPath(g, a)).String(); got != want {
		t.Errorf("the history of a is %s, want %s", got, want)
	}
	if got, want := s.days(key, historyPath(g, b)).String(), fmt.Sprintf("%s -10 0, %s 9 0", before, today); got != want {
		t.Errorf("the history of b is %s, want %s", got, want)
	}
	short := strings.Replace(historyPath(g, a), "366", "2", 1)
	if got, want := s.days(key, short).String(), fmt.Sprintf("%s 5 0, %s 7 0", yesterday, today); got != want {
		t.Errorf("two days are %s, want %s", got, want)
	}
	if got := s.days("", strings.Replace(activityPath(g), "366", "1", 1)).String(); got != today+" 16 2" {
		t.Errorf("the activity of today is %s", got)
	}
	s.patch(key, g, a, object{"decrement": 7})
	if got, want := s.days(key, historyPath(g, a)).String(), fmt.Sprintf("%s 30 0, %s 5 0", before, yesterday); got != want {
		t.Errorf("the history without today is %s, want %s", got, want)
	}
	for _, path := range []string{activityPath(g), historyPath(g, a)} {
		wantNoBody(t, s.Do("HEAD", path, key, nil).Want(t, 200))
	}
	// A member that is deleted and comes back begins again, at once.
	s.Do("DELETE", memberPath(g, a), key, nil).Want(t, 204)
	s.create(key, g, a, 0)
	s.patch(key, g, a, object{"increment": 3})
	for range 2 {
		if got := s.days(key, historyPath(g, a)).String(); got != today+" 3 0" {
			t.Errorf("the history of a member that is back is %s", got)
		}
		s.wantRows(g, "season", row(1, a, 3))
		<-time.After(300 * time.Millisecond) // and once that is archived
	}
}

func nothingConfigured(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.gain(key, g, u, 50)
	for _, kind := range kinds {
		s.Do("GET", periodPath(g, kind, 1), "", nil).Want(t, 404)
	}
	if all := s.periods("", periodsPath(g)); all == nil || len(all) != 0 {
		t.Errorf("periods: %v", all)
	}
	for _, path := range []string{activityPath(g), historyPath(g, u)} {
		if got := string(s.Do("GET", path, key, nil).Want(t, 200).Body); got != `{"days":[]}` {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// closes waits until a period has closed. A day that a change of the zone has ended is not found until then.
func (s *service) closes(key, g, name string) periodBoard {
	s.t.Helper()
	eventually(s.t, name+" has closed", func() bool {
		got, err := s.quick("GET", periodPath(g, name, 1), key, "")
		if err != nil || got.Status != 200 && got.Status != 503 && (got.Status != 404 || strings.HasPrefix(name, "season")) {
			s.t.Fatalf("%d %s, %v", got.Status, got.Body, err)
		}
		return got.Status == 200
	})
	return s.periodBoard(key, g, name)
}

// closedGuild is a guild with a season that has closed, of three members of whom one gained nothing.
func (s *service) closedGuild(over object) (g string, users []string) {
	s.t.Helper()
	g, users = s.guild(over), []string{newID(), newID(), newID()}
	s.seed(g, map[string]map[int]int64{users[0]: {-6: 100, -5: 20, -1: 1000}, users[1]: {-5: 60, -4: 30}, users[2]: {-5: -5}})
	ended := object{"timeZone": atNoon(), "roleRewards": twoRewards, "seasons": []object{season(s.t, "old", -7, -3)}}
	for name, value := range over {
		ended[name] = value
	}
	s.admin("PUT", "/guilds/"+g, settings(ended)).Want(s.t, 200)
	return g, users
}

func closedBoardsStay(t *testing.T, s *service) {
	boss := newID()
	g, users := s.closedGuild(object{"ownerId": boss})
	key := s.key(g)
	first := s.closes(key, g, "season-old")
	want := []string{row(1, users[0], 120), row(2, users[1], 90)}
	if got := first.rows(); !slices.Equal(got, want) {
		t.Fatalf("the rows are %v, want %v", got, want)
	}
	if p := first.Period; !p.Closed || p.ID != "season-old" || p.Name == nil || *p.Name != "The old" {
		t.Errorf("%+v", p)
	}
	before := s.Do("GET", periodPath(g, "season-old", 1), key, nil).Want(t, 200)
	s.Do("DELETE", memberPath(g, users[0]), key, nil).Want(t, 204)
	s.patch(key, g, users[1], 7)
	s.admin("PUT", "/guilds/"+g, settings(object{"ownerId": boss, "name": "Other", "curve": "mee6", "memberCount": 7, "xpGainInterval": 20000})).Want(t, 200)
	after := s.Do("GET", periodPath(g, "season-old", 1), key, nil).Want(t, 200)
	if string(before.Body) != string(after.Body) || before.Header.Get("ETag") != after.Header.Get("ETag") {
		t.Errorf("closed, it was\n%s\nand is\n%s", before.Body, after.Body)
	}
	_, ofBoss := s.mint(object{"guildIds": []string{g}, "ownerId": boss})
	if first.IsManager || !s.periodBoard(ofBoss, g, "season-old").IsManager {
		t.Error("isManager is not that of the caller")
	}
	all := s.periods("", periodsPath(g))
	if len(all) != 1 || !all[0].Closed || all[0].ID != "season-old" || all[0].Members != 2 || all[0].Gained != 210 ||
		len(all[0].Winners) != 2 || all[0].Winners[0].UserID != users[0] || all[0].Winners[0].Gained != 120 {
		t.Errorf("it is listed as %+v", all)
	}
	past := apitest.JSON[periodBoard](t, s.Do("GET", periodPath(g, "season-old", 2), "", nil).Want(t, 200))
	if len(past.Levels) != 0 || !past.Period.Closed {
		t.Errorf("page 2: %+v", past)
	}
	s.Do("GET", "/v2/levels/"+g+"?page=99999999999999999999&period=season-old", "", nil).Want(t, 200)
	s.Do("GET", periodPath(g, "season", 1), "", nil).Want(t, 404)
}

func cachesKeepClosedBoards(t *testing.T, s *service) {
	const kept = "max-age=31536000, immutable"
	g, _ := s.closedGuild(nil)
	key := s.key(g)
	s.closes(key, g, "season-old")
	path := periodPath(g, "season-old", 1)
	check := func(key, cache string) {
		t.Helper()
		got := s.Do("GET", path, key, nil).Want(t, 200)
		etag := got.Header.Get("ETag")
		for _, got := range []apitest.Response{
			got, s.Do("HEAD", path, key, nil).Want(t, 200),
			s.Do("GET", path, key, nil, apitest.Header("If-None-Match", etag)).Want(t, 304), s.Do("HEAD", path, key, nil, apitest.Header("If-None-Match", etag)).Want(t, 304),
		} {
			wantHeader(t, got, "Cache-Control", cache)
			wantHeader(t, got, "ETag", etag)
			wantLimits(t, got)
			if vary := got.Header.Get("Vary"); !strings.Contains(vary, "X-Api-Key") || !strings.Contains(vary, "Cookie") {
				t.Errorf("Vary is %q", vary)
			}
		}
		s.Do("GET", path, key, nil, apitest.Header("If-None-Match", `"x"`)).Want(t, 200)
	}
	check("", "public, "+kept)
	check(key, "private, "+kept)
	s.admin("PUT", "/guilds/"+g, settings(object{"visibility": "private"})).Want(t, 200)
	s.Do("GET", path, "", nil).Want(t, 401)
	s.Do("GET", path, s.key(), nil).Want(t, 403)
	check(key, "private, "+kept)
	s.admin("PUT", "/guilds/"+g, settings(object{"enabled": false})).Want(t, 200)
	s.Do("GET", path, key, nil).Want(t, 404)
}

func closedPeriodIsAnEvent(t *testing.T, s *service) {
	g, a := s.guild(nil), newID()
	key := s.key(g)
	gains := map[string]map[int]int64{a: {-5: 500}}
	for i := range 12 {
		gains[newID()] = map[int]int64{-5: int64(i + 1)}
	}
	s.seed(g, gains)
	f := s.follow(key, g, "")
	s.admin("PUT", "/guilds/"+g, settings(object{"timeZone": atNoon(), "seasons": []object{season(t, "old", -7, -3)}})).Want(t, 200)
	for {
		e := f.take()
		if e.name == "reset" { // the guild was loaded
			continue
		}
		var got periods.Event
		if err := json.Unmarshal([]byte(e.data), &got); err != nil || e.name != "period" || e.id == "" {
			t.Fatalf("%+v, %v", e, err)
		}
		if got.ID != "season-old" || got.Kind != period.Seasonal || got.Name == nil || *got.Name != "The old" || got.Members != 13 || len(got.Winners) != 10 ||
			!got.Start.Before(got.End) {
			t.Errorf("%+v", got)
		}
		for i, w := range got.Winners {
			if w.Rank != int64(i+1) || i == 0 && (w.UserID != id.User(a) || w.Gained != 500) || i > 0 && w.Gained != int64(13-i) {
				t.Errorf("winner %d is %+v", i, w)
			}
		}
		return
	}
}

// A season without members has a board, and is neither listed nor announced.
func emptySeasonCloses(t *testing.T, s *service) {
	g, _ := s.closedGuild(nil)
	key := s.key(g)
	f := s.follow(key, g, "")
	s.closes(key, g, "season-old")
	s.admin("PUT", "/guilds/"+g, settings(object{"timeZone": atNoon(), "seasons": []object{season(t, "old", -7, -3), season(t, "none", -3, -2)}})).Want(t, 200)
	if got := s.closes(key, g, "season-none"); len(got.Levels) != 0 || !got.Period.Closed {
		t.Errorf("%+v", got)
	}
	if all := s.periods("", periodsPath(g)); len(all) != 1 || all[0].ID != "season-old" {
		t.Errorf("listed are %+v", all)
	}
	f.cancel()
	for e := range f.got {
		if strings.Contains(e.data, "season-none") {
			t.Errorf("announced is %+v", e)
		}
	}
}

// behindAndAhead are two zones: at every instant, the date in the second one is a later one. Neither is near midnight.
func behindAndAhead() (behind, ahead string) {
	if hour := time.Now().UTC().Hour(); hour == 11 || hour == 12 {
		return "Etc/GMT+10", "Etc/GMT-14"
	}
	return "Etc/GMT+12", "Etc/GMT-14"
}

func anotherZoneClosesTheDay(t *testing.T, s *service) {
	behind, ahead := behindAndAhead()
	in := func(zone string) object {
		return settings(object{"timeZone": zone, "periods": []string{"day", "month"}})
	}
	g, a, b := s.guild(in(behind)), newID(), newID()
	key := s.key(g)
	s.gain(key, g, a, 40)
	s.gain(key, g, b, 30)
	began := s.periodBoard("", g, "day")
	name := began.Period.ID
	eventually(t, "the guild is known to the closer", func() bool { return len(s.periods("", periodsPath(g))) == 2 })
	<-time.After(time.Second)
	f := s.follow(key, g, "")
	s.admin("PUT", "/guilds/"+g, in(ahead)).Want(t, 200)
	closed := s.closes(key, g, name)
	if got := closed.rows(); !slices.Equal(got, []string{row(1, a, 40), row(2, b, 30)}) || !closed.Period.Closed {
		t.Errorf("%+v, rows %v", closed.Period, got)
	}
	if e := f.take(); e.name != "period" || !strings.Contains(e.data, `"id":"`+name+`"`) {
		t.Errorf("%+v", e)
	}
	if got := s.days("", activityPath(g)).String(); got != name+" 70 2" {
		t.Errorf("the activity is %s", got)
	}
	s.wantRows(g, "day")
	s.patch(key, g, b, object{"increment": 5})
	s.wantRows(g, "day", row(1, b, 5))
	// By the first zone that day runs still, and it has closed: what is gained on it counts for what is open.
	s.admin("PUT", "/guilds/"+g, in(behind)).Want(t, 200)
	s.patch(key, g, a, object{"increment": 1})
	path := periodPath(g, "day", 1)
	got := s.Do("GET", path, "", nil).Want(t, 200)
	wantHeader(t, got, "Cache-Control", "public, no-cache") // tomorrow it is another day
	if now := apitest.JSON[periodBoard](t, got); now.Period.ID != name || !now.Period.Closed || !slices.Equal(now.rows(), closed.rows()) {
		t.Errorf("the day that has closed is %+v, %v", now.Period, now.rows())
	}
	wantHeader(t, s.Do("GET", periodPath(g, name, 1), "", nil), "Cache-Control", "public, max-age=31536000, immutable")
	if all := s.periods("", periodsPath(g)+"&kind=day"); len(all) != 1 || !all[0].Closed || all[0].ID != name {
		t.Errorf("listed are %+v", all)
	}
}

func TestMetricsOfPeriods(t *testing.T) {
	t.Parallel()
	s := start(t, append(onDataDir(t), often)...)
	eventually(t, "this replica closes periods", func() bool {
		return strings.Contains(string(s.ops("/metrics").Body), "\nlevelboard_period_close_lag_seconds ")
	})
	closed := s.metric(`periods_closed_total{kind="season"}`)
	g, _ := s.closedGuild(nil)
	s.closes(s.key(g), g, "season-old")
	if now := s.metric(`periods_closed_total{kind="season"}`); now < closed+1 {
		t.Errorf("%v seasons have closed, and before it were %v", now, closed)
	}
	eventually(t, "nothing is late", func() bool { return s.metric("period_close_lag_seconds") == 0 })
}
