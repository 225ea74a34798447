package app_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// listed is one period in a list of periods.
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
		t.Fatalf("%d periods are listed, want 4: %+v", len(all), all)
	}
	if !slices.IsSortedFunc(all, func(a, b listed) int {
		return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.End.Sub(a.Start), b.End.Sub(b.Start)))
	}) {
		t.Errorf("the periods are in the wrong order: %+v", all)
	}
	for _, p := range all {
		if p.Closed || p.Members != 4 || p.Gained != 140 || len(p.Winners) != 3 {
			t.Errorf("the period %s is %+v, want it running, 4 members, 140 XP and 3 winners", p.ID, p)
			continue
		}
		for i, w := range p.Winners {
			if w.Rank != i+1 || w.UserID != users[4-i] || w.Gained != 50-10*i || w.User["username"] != "gopher" {
				t.Errorf("%s: winner %d is %+v, want %s with %d XP", p.ID, i+1, w, users[4-i], 50-10*i)
			}
		}
	}
	for _, kind := range kinds {
		if of := s.periods("", periodsPath(g)+"&kind="+kind); len(of) != 1 || of[0].Kind != kind {
			t.Errorf("the periods of kind %s are %+v, want one", kind, of)
		}
	}
	if next := s.periods("", "/v2/levels/"+g+"/periods?page=2"); next == nil || len(next) != 0 {
		t.Errorf("page 2 of the periods is %+v, want an empty list", next)
	}
	s.Do("GET", "/v2/levels/"+g+"/periods?page=99999999999999999999", "", nil).Want(t, 200)
	s.Do("HEAD", periodsPath(g), "", nil).Want(t, 200)
	wantHeader(t, s.Do("GET", periodsPath(g), "", nil), "Cache-Control", "private, no-cache")
}

// days is the answer of activity and history.
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

// seed gives members of an unused guild gains, by days from today.
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
		t.Errorf("a's history is %s, want %s", got, want)
	}
	if got, want := s.days(key, historyPath(g, b)).String(), fmt.Sprintf("%s -10 0, %s 9 0", before, today); got != want {
		t.Errorf("b's history is %s, want %s", got, want)
	}
	short := strings.Replace(historyPath(g, a), "366", "2", 1)
	if got, want := s.days(key, short).String(), fmt.Sprintf("%s 5 0, %s 7 0", yesterday, today); got != want {
		t.Errorf("the history of two days is %s, want %s", got, want)
	}
	if got := s.days("", strings.Replace(activityPath(g), "366", "1", 1)).String(); got != today+" 16 2" {
		t.Errorf("today's activity is %s, want 16 XP of 2 members", got)
	}
	s.patch(key, g, a, object{"decrement": 7})
	if got, want := s.days(key, historyPath(g, a)).String(), fmt.Sprintf("%s 30 0, %s 5 0", before, yesterday); got != want {
		t.Errorf("the history without today is %s, want %s", got, want)
	}
	for _, path := range []string{activityPath(g), historyPath(g, a)} {
		wantNoBody(t, s.Do("HEAD", path, key, nil).Want(t, 200))
	}
	// The history of a member that was deleted and created again starts again, at once.
	s.Do("DELETE", memberPath(g, a), key, nil).Want(t, 204)
	s.create(key, g, a, 0)
	s.patch(key, g, a, object{"increment": 3})
	for range 2 {
		if got := s.days(key, historyPath(g, a)).String(); got != today+" 3 0" {
			t.Errorf("the history of the member created again is %s, want 3 XP today", got)
		}
		s.wantRows(g, "season", row(1, a, 3))
		s.checkpoint(g, "archived") // and the same once it is archived
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
		t.Errorf("the periods are %v, want an empty list", all)
	}
	for _, path := range []string{activityPath(g), historyPath(g, u)} {
		if got := string(s.Do("GET", path, key, nil).Want(t, 200).Body); got != `{"days":[]}` {
			t.Errorf("%s is %s, want no days", path, got)
		}
	}
}
