package app_test

import (
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

var directoryCases = cases{
	"names are kept up to date":  directoryNames,
	"others may not write names": directoryRefused,
}

func directoryPath(g string) string { return "/v2/guilds/" + g + "/directory" }

func (s *service) describe(key, g string, body object) {
	s.t.Helper()
	got := s.Do("PUT", directoryPath(g), key, body).Want(s.t, 204)
	wantNoBody(s.t, got)
	wantLimits(s.t, got)
}

func roleNamed(id, name string, position int) object {
	return object{"id": id, "name": name, "color": 255, "position": position}
}

// guildNaming returns a guild that names roleA in a reward and in a multiplier, and a channel in a multiplier.
func (s *service) guildNaming(channel string) string {
	return s.guild(object{
		"roleRewards": []object{reward(5, true, roleA, roleB)},
		"multipliers": []object{
			{"type": "Channel", "multiplier": 2, "targets": []object{{"id": channel, "name": "help"}}},
			{"type": "Role", "multiplier": 2, "targets": []object{{"id": roleA, "name": "role"}}},
		},
	})
}

func directoryNames(t *testing.T, s *service) {
	channel := newID()
	g := s.guildNaming(channel)
	key, etag := s.key(g), s.etag("", g, 1)
	s.describe(key, g, object{
		"name": "Renamed", "icon": "0123456789abcdef0123456789abcdef", "memberCount": 77,
		"roles":    []object{roleNamed(roleA, "Ünïque", 7)},
		"channels": []object{{"id": channel, "name": "halp", "parentId": newID(), "position": 3, "type": 5}},
	})
	if now := s.etag("", g, 1); now == etag {
		t.Error("new names did not change the leaderboard's ETag")
	}
	page := s.Do("GET", boardPath(g, 1), "", nil).Want(t, 200)
	document := s.admin("GET", "/guilds/"+g, nil).Want(t, 200)
	listed := s.admin("GET", "/guilds?limit=1000", nil).Want(t, 200)
	for _, got := range []apitest.Response{page, document, listed} {
		for _, text := range []string{`"name":"Ünïque"`, `"name":"halp"`, `"name":"role"`, `"name":"Renamed"`} {
			if !strings.Contains(string(got.Body), text) {
				t.Errorf("the answer lacks %s: %s", text, got.Body)
			}
		}
	}
	role := apitest.At[map[string]any](t, page, "roleRewards", 0, "roles", 0)
	if role["color"] != 255.0 || role["position"] != 7.0 || apitest.At[float64](t, page, "guild", "memberCount") != 77 {
		t.Errorf("the role is %v, want color 255, position 7 and 77 members in the guild: %s", role, page.Body)
	}
	// Putting back the document of GET changes nothing.
	etag = s.etag("", g, 1)
	wantJSON(t, s.admin("PUT", "/guilds/"+g, string(document.Body)).Want(t, 200), string(document.Body))
	if now := s.etag("", g, 1); now != etag {
		t.Errorf("putting back the document of GET changed the ETag from %s to %s", etag, now)
	}
	status, text := visit(t, newBrowser(t), "GET", s.app.URL()+"/leaderboard/"+g, "")
	if status != 200 || !strings.Contains(text, "Ünïque") || !strings.Contains(text, "#halp") || !strings.Contains(text, "Renamed") {
		t.Errorf("the guild's page lacks the new names: %d %s", status, text)
	}
}

func directoryRefused(t *testing.T, s *service) {
	g := s.guildNaming(newID())
	before := s.admin("GET", "/guilds/"+g, nil).Want(t, 200).Body
	body := object{"name": "Stolen"}
	s.Do("PUT", directoryPath(g), s.reader(g), body).Want(t, 403)
	s.bad("PUT", directoryPath(newID()), s.key(g), object{"name": ""}).Want(t, 400)
	if after := s.admin("GET", "/guilds/"+g, nil).Want(t, 200).Body; string(after) != string(before) {
		t.Errorf("refused calls changed the guild to %s", after)
	}
	disabled := s.guild(object{"enabled": false})
	s.describe(s.key(disabled), disabled, body)
}
