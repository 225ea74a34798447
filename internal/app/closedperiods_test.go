package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/periods"
)

// closes waits until a period has closed. A day that ended by a change of the time zone gives 404 until then.
func (s *service) closes(key, g, name string) periodBoard {
	s.t.Helper()
	testenv.Wait(s.t, name+" has closed", func() bool {
		got, err := s.quick("GET", periodPath(g, name, 1), key, "")
		if err != nil || got.Status != 200 && got.Status != 503 && (got.Status != 404 || strings.HasPrefix(name, "season")) {
			s.t.Fatalf("the period %s is %d %s, %v, want 200, or 503 while it closes", name, got.Status, got.Body, err)
		}
		return got.Status == 200
	})
	return s.periodBoard(key, g, name)
}

// closedGuild returns a guild with a closed season of three members, one of whom gained nothing.
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
		t.Fatalf("the closed season's rows are %v, want %v", got, want)
	}
	if p := first.Period; !p.Closed || p.ID != "season-old" || p.Name == nil || *p.Name != "The old" {
		t.Errorf("the period is %+v, want the closed season-old, named The old", p)
	}
	before := s.Do("GET", periodPath(g, "season-old", 1), key, nil).Want(t, 200)
	s.Do("DELETE", memberPath(g, users[0]), key, nil).Want(t, 204)
	s.patch(key, g, users[1], 7)
	s.admin("PUT", "/guilds/"+g, settings(object{"ownerId": boss, "name": "Other", "curve": "mee6", "memberCount": 7, "xpGainInterval": 20000})).Want(t, 200)
	after := s.Do("GET", periodPath(g, "season-old", 1), key, nil).Want(t, 200)
	if string(before.Body) != string(after.Body) || before.Header.Get("ETag") != after.Header.Get("ETag") {
		t.Errorf("the closed board was\n%s\nand is\n%s\nwant the same bytes and ETag", before.Body, after.Body)
	}
	_, ofBoss := s.mint(object{"guildIds": []string{g}, "ownerId": boss})
	if first.IsManager || !s.periodBoard(ofBoss, g, "season-old").IsManager {
		t.Error("isManager is true without a key, or false for the manager's key")
	}
	all := s.periods("", periodsPath(g))
	if len(all) != 1 || !all[0].Closed || all[0].ID != "season-old" || all[0].Members != 2 || all[0].Gained != 210 ||
		len(all[0].Winners) != 2 || all[0].Winners[0].UserID != users[0] || all[0].Winners[0].Gained != 120 {
		t.Errorf("the periods are %+v, want the season first, with two winners, 120 XP for %s", all, users[0])
	}
	past := apitest.JSON[periodBoard](t, s.Do("GET", periodPath(g, "season-old", 2), "", nil).Want(t, 200))
	if len(past.Levels) != 0 || !past.Period.Closed {
		t.Errorf("page 2 is %+v, want an empty page of a closed period", past)
	}
	s.Do("GET", "/v2/levels/"+g+"?page=99999999999999999999&period=season-old", "", nil).Want(t, 200)
	s.Do("GET", periodPath(g, "season", 1), "", nil).Want(t, 404)
	s.hide(key, g, "manager", true, 1, users[0])
	if _, page := visit(t, newBrowser(t), "GET", s.app.URL()+"/leaderboard/"+g+"?period=season-old", ""); !strings.Contains(page, "2 members. 2. ") {
		t.Errorf("the description has no gap for the hidden winner:\n%s", page)
	}
}

func cachesKeepClosedBoards(t *testing.T, s *service) {
	const kept = "max-age=300"
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
				t.Errorf("Vary is %q, want X-Api-Key and Cookie in it", vary)
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
			t.Fatalf("the stream sent %+v (%v), want a period event with an id", e, err)
		}
		if got.ID != "season-old" || got.Kind != period.Seasonal || got.Name == nil || *got.Name != "The old" || got.Members != 13 || len(got.Winners) != 10 ||
			!got.Start.Before(got.End) {
			t.Errorf("the period event is %+v, want The old with 13 members, ten of them winners", got)
		}
		for i, w := range got.Winners {
			if w.Rank != int64(i+1) || i == 0 && (w.UserID != id.User(a) || w.Gained != 500) || i > 0 && w.Gained != int64(13-i) {
				t.Errorf("winner %d is %+v, want rank %d with 500 XP for %s first, then %d", i, w, i+1, a, 13-i)
			}
		}
		return
	}
}

func TestMetricsOfPeriods(t *testing.T) {
	t.Parallel()
	s := start(t, append(onDataDir(t), often)...)
	testenv.Wait(t, "this replica closes periods", func() bool {
		return strings.Contains(string(s.ops("/metrics").Body), "\nlevelboard_period_close_lag_seconds ")
	})
	closed := s.metric(`periods_closed_total{kind="season"}`)
	g, _ := s.closedGuild(nil)
	s.closes(s.key(g), g, "season-old")
	if now := s.metric(`periods_closed_total{kind="season"}`); now < closed+1 {
		t.Errorf("periods_closed_total for seasons is %v after a close and %v before, want one more", now, closed)
	}
	testenv.Wait(t, "nothing is late", func() bool { return s.metric("period_close_lag_seconds") == 0 })
}
