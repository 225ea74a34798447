package app_test

import (
	"strings"
	"testing"

	"levelboard/internal/domain/period"
	"levelboard/internal/testing/apitest"
)

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
