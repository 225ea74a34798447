package app_test

import (
	"testing"
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
		t.Error("isManager is true for another key, or false for the manager's")
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
