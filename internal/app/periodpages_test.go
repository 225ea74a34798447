package app_test

import (
	"testing"

	"levelboard/internal/domain/period"
	"levelboard/internal/testing/apitest"
)

func whoMayReadPeriods(t *testing.T, s *service) {
	boss := newID()
	g, u := s.guild(counting(t, object{"ownerId": boss, "visibility": "private"})), newID()
	key := s.key(g)
	_, ofBoss := s.mint(object{"guildIds": []string{g}, "ownerId": boss, "permission": "read"})
	s.gain(key, g, u, 50)
	board, past, history := periodPath(g, "day", 1), periodPath(g, day(t, -1).String(), 1), historyPath(g, u)
	for _, path := range []string{board, past, history} {
		s.Do("GET", path, "", nil).Want(t, 401)
		s.Do("GET", path, s.key(), nil).Want(t, 403)
	}
	wantHeader(t, s.Do("GET", board, key, nil).Want(t, 200), "Cache-Control", "private, no-cache")
	if s.periodBoard(key, g, "day").IsManager || !s.periodBoard(ofBoss, g, "day").IsManager {
		t.Error("isManager is not the caller's")
	}
	s.admin("PUT", "/guilds/"+g, settings(counting(t, nil))).Want(t, 200)
	for path, status := range map[string]int{board: 200, past: 404, periodsPath(g): 200, activityPath(g): 200, history: 401} {
		s.Do("GET", path, "lb_wrong", nil).Want(t, 401)
		s.Do("GET", path, "", nil).Want(t, status)
	}
	s.admin("PUT", "/guilds/"+g, settings(counting(t, object{"enabled": false}))).Want(t, 200)
	for _, path := range []string{board, past, periodsPath(g), activityPath(g)} {
		s.Do("GET", path, key, nil).Want(t, 404)
	}
	s.Do("GET", history, key, nil).Want(t, 200)
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
