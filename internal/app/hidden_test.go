package app_test

import (
	"slices"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

var hiddenCases = cases{
	"a hidden member's own answers":            hiddenAnswers,
	"who is hidden is listed, and shown again": hiddenListed,
	"flags outlive what happens to members":    flagsStay,
	"an import sets flags, and lifts none":     importedFlags,
	"calls with invalid flags are refused":     flagsRefused,
}

func hiddenPath(g string) string { return "/v2/guilds/" + g + "/hidden" }

// hide sets or lifts a flag of users, and fails unless this many changed.
func (s *service) hide(key, g, by string, hidden bool, changed int, users ...string) {
	s.t.Helper()
	got := s.Do("PUT", hiddenPath(g), key, object{"hidden": hidden, "by": by, "userIds": users}).Want(s.t, 200)
	wantLimits(s.t, got)
	wantJSON(s.t, got, jsonText(s.t, object{"changed": changed}))
}

// hiddenAnswers reads a hidden member's answers, with and without a key. TestNoRouteShowsWhoIsHidden reads all other routes.
func hiddenAnswers(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	ada, bea, cleo := newID(), newID(), newID()
	for i, u := range []string{ada, bea, cleo} {
		s.create(key, g, u, 100*(3-i))
		s.patch(key, g, u, object{"increment": 10})
	}
	s.hide(key, g, "self", true, 1, bea)
	wantJSON(t, s.Do("GET", "/v2/guilds/"+g+"/members?ids="+bea, key, nil).Want(t, 200), jsonText(t, object{"members": []any{}, "missing": []string{bea}}))
	s.Do("GET", "/v2/guilds/"+g+"/members/"+bea+"/around", key, nil).Want(t, 404)
	s.Do("GET", memberPath(g, bea)+"/card.svg", "", nil).Want(t, 404)
	s.Do("GET", memberPath(g, bea)+"/card.svg", key, nil).Want(t, 200)
	if m := s.member(key, g, bea).Level; m.XP != 210 || m.Rank != 2 {
		t.Errorf("with a key the hidden member is %+v, want 210 XP and rank 2", m)
	}
	position := apitest.JSON[struct {
		Rank, Of int
		Hidden   []string
	}](t, s.Do("GET", "/v2/guilds/"+g+"/members/"+bea, key, nil).Want(t, 200))
	if position.Rank != 2 || position.Of != 3 || !slices.Equal(position.Hidden, []string{"self"}) {
		t.Errorf("the hidden member's position is %+v, want rank 2 of 3, hidden by self", position)
	}
}

func hiddenListed(t *testing.T, s *service) {
	g := s.guild(nil)
	key, short, long := s.key(g), "20000000000000009", newID()
	s.create(key, g, long, 150)
	s.hide(key, g, "manager", true, 2, short, long, long)
	s.hide(key, g, "self", true, 1, long)
	s.hide(key, g, "manager", true, 0, short, long)
	list := apitest.JSON[struct {
		Hidden []struct {
			UserID string
			By     []string
			XP     *int
			Level  *int
		}
	}](t, s.Do("GET", hiddenPath(g)+"?page=1", key, nil).Want(t, 200))
	if l := list.Hidden; len(l) != 2 || l[0].UserID != short || l[0].XP != nil || l[1].UserID != long || *l[1].XP != 150 || *l[1].Level != 2 || len(l[1].By) != 2 {
		t.Errorf("the hidden are %+v, want %s without an entry and %s with 150 XP and two flags", l, short, long)
	}
	wantJSON(t, s.Do("GET", hiddenPath(g)+"?page=2", key, nil).Want(t, 200), `{"hidden":[]}`)
	s.hide(key, g, "self", false, 1, short, long)
	s.hide(key, g, "manager", false, 2, short, long)
	wantJSON(t, s.Do("GET", hiddenPath(g)+"?page=1", key, nil).Want(t, 200), `{"hidden":[]}`)
}

// flagsStay does to a hidden member everything that brings absent members back onto the board.
func flagsStay(t *testing.T, s *service) {
	g := s.guild(nil)
	key, ada := s.key(g), newID()
	s.hide(key, g, "manager", true, 1, ada) // before the first message
	onBoard := func(what string) {
		t.Helper()
		got := s.Do("GET", "/v2/levels/"+g+"?page=1", key, nil).Want(t, 200)
		if strings.Contains(string(got.Body), ada) {
			t.Errorf("after %s the hidden member is on the board", what)
		}
	}
	s.create(key, g, ada, 100)
	onBoard("created")
	s.Do("POST", "/v2/guilds/"+g+"/messages", key, object{"messages": []object{{"userId": ada, "channelId": newID()}}}).Want(t, 200)
	onBoard("a message")
	s.leave(key, g, ada)
	s.comeBack(key, g, ada)
	onBoard("left and came back")
	s.Do("DELETE", memberPath(g, ada), key, nil).Want(t, 204)
	s.create(key, g, ada, 100)
	onBoard("deleted and created")
	s.replaced("/guilds/" + g + "/reset")
	s.create(key, g, ada, 100)
	onBoard("after a reset")
	s.hide(key, g, "manager", false, 1, ada)
	if got := s.Do("GET", "/v2/levels/"+g+"?page=1", key, nil).Want(t, 200); !strings.Contains(string(got.Body), ada) {
		t.Error("a member whose flags were lifted is not on the board")
	}
}

func flagsRefused(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	for _, body := range []object{
		{"hidden": true, "userIds": []string{}}, {"hidden": true, "by": "bot", "userIds": []string{newID()}}, {"userIds": []string{newID()}},
		{"hidden": true, "by": nil, "userIds": []string{newID()}}, {"hidden": true, "userIds": []string{"x"}},
	} {
		wantFailure(t, s.Do("PUT", hiddenPath(g), key, body, apitest.Bad()), 400)
	}
	wantFailure(t, s.Do("GET", hiddenPath(g), key, nil, apitest.Bad()), 400)
	wantFailure(t, s.Do("PUT", hiddenPath(g), s.key(s.guild(nil)), object{"hidden": true, "userIds": []string{newID()}}), 403)
	wantFailure(t, s.Do("GET", hiddenPath(newID())+"?page=1", key, nil), 404)
}

func importedFlags(t *testing.T, s *service) {
	g := s.guild(nil)
	key, ada, bea := s.key(g), newID(), newID()
	s.create(key, g, ada, 100)
	s.hide(key, g, "self", true, 1, bea)
	s.admin("PUT", "/guilds/"+g+"/members", object{"mode": "missing", "members": []object{
		{"userId": ada, "xp": 5, "hidden": []string{"manager", "nobody"}}, {"userId": bea, "xp": 5},
	}}).Want(t, 200)
	list := string(s.Do("GET", hiddenPath(g)+"?page=1", key, nil).Want(t, 200).Body)
	if !strings.Contains(list, ada) || !strings.Contains(list, bea) || strings.Count(list, `"manager"`) != 1 || strings.Count(list, `"self"`) != 1 {
		t.Errorf("the hidden are %s, want %s and %s, one flag by the manager and one by self", list, ada, bea)
	}
}
