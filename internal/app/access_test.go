package app_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

var accessCases = cases{
	"invalid keys are 401":                     invalidKeys,
	"an invalid key on a public board":         invalidKeyOnPublicBoard,
	"read-only keys change nothing":            readOnlyKeys,
	"no grant is 403":                          noGrant,
	"grants take effect at once":               grantsTakeEffect,
	"grants go with a deleted guild":           grantsGoWithGuild,
	"401 comes before the request's shape":     unauthorizedFirst,
	"the guild comes before permissions":       guildBeforePermission,
	"permissions come before the member":       permissionBeforeMember,
	"the board without a key":                  boardWithoutKey,
	"unknown parameters mean nothing":          unknownParameters,
	"invalid admin tokens are 401":             adminTokens,
	"a key is no admin token, nor the reverse": noSubstitute,
	"the operator gets 404 for unknown guilds": operatorWithoutGuild,
}

// v2Calls returns a valid call of each /v2 endpoint on the guild g and the user u, except the stream, which has no end.
func v2Calls(t *testing.T, g, u string) []apitest.Call {
	t.Helper()
	calls := slices.DeleteFunc(apitest.Calls(t, g, u), func(c apitest.Call) bool {
		return c.Admin() || !strings.Contains(c.Path, g) || strings.HasSuffix(c.Path, "/events")
	})
	return append(calls, apitest.Call{Method: "HEAD", Path: memberPath(g, u)})
}

// wantRefused is wantFailure with the limits' headers, for HEAD too.
func wantRefused(t *testing.T, got apitest.Response, status int) {
	t.Helper()
	wantLimits(t, got)
	if len(got.Body) == 0 && got.Status == status {
		return // HEAD
	}
	wantFailure(t, got, status)
}

func invalidKeys(t *testing.T, s *service) {
	g, u := s.guild(object{"visibility": "private"}), newID()
	id, valid := s.mint(object{"guildIds": []string{g}})
	s.create(valid, g, u, 7)
	_, revoked := s.mint(object{"guildIds": []string{g}})
	s.admin("DELETE", "/keys/"+keyID(revoked), nil).Want(t, 204)
	last := valid[len(valid)-1:]
	for name, header := range map[string][]string{
		"missing":       nil,
		"empty":         {""},
		"not a key":     {"letmein"},
		"only the id":   {"lb_" + id},
		"cut short":     {valid[:len(valid)-1]},
		"too long":      {valid + last},
		"with a typo":   {strings.Replace(valid, last, flip(last), 1)},
		"upper case":    {strings.ToUpper(valid)},
		"as a bearer":   {"Bearer " + valid},
		"revoked":       {revoked},
		"given twice":   {valid, valid},
		"two in a line": {valid + ", " + valid},
		"enormous":      {strings.Repeat("a", 8000)},
	} {
		for _, c := range v2Calls(t, g, u) {
			got := s.Do(c.Method, c.Address(), "", bodyOrNone(c.Body), func(r *http.Request) { r.Header["X-Api-Key"] = header })
			if got.Status != 401 {
				t.Errorf("%s: %s is %d, want 401", name, c.Method, got.Status)
				continue
			}
			wantRefused(t, got, 401)
			if strings.Contains(string(got.Body), valid) {
				t.Errorf("%s: the answer repeats the key, want it left out", name)
			}
		}
	}
	if m := s.member(valid, g, u); m.Level.XP != 7 {
		t.Errorf("after changes with invalid keys the member has %d XP, want 7", m.Level.XP)
	}
}

func bodyOrNone(body string) any {
	if body == "" {
		return nil
	}
	return body
}

func flip(letter string) string {
	if letter == "a" {
		return "b"
	}
	return "a"
}

// keyID returns the part of a key's text that names the key.
func keyID(secret string) string { return secret[3:15] }

func invalidKeyOnPublicBoard(t *testing.T, s *service) {
	g := s.guild(nil)
	for _, path := range []string{boardPath(g, 1), boardPath(newID(), 1), "/v2/openapi.json"} {
		wantRefused(t, s.Do("GET", path, "letmein", nil), 401)
	}
}

func readOnlyKeys(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	reader, writer := s.reader(g), s.key(g)
	s.create(writer, g, u, 7)
	before := s.member(writer, g, u)
	for _, c := range v2Calls(t, g, u) {
		got := s.Do(c.Method, c.Address(), reader, bodyOrNone(c.Body))
		if c.Method == "GET" || c.Method == "HEAD" {
			got.Want(t, 200)
			continue
		}
		wantRefused(t, got, 403)
	}
	wantRefused(t, s.Do("POST", memberPath(g, newID()), reader, object{"xp": 1, "user": gopher}), 403)
	if after := s.member(writer, g, u); jsonText(t, flat(after)) != jsonText(t, flat(before)) || len(s.board("", g, 1).Levels) != 1 {
		t.Errorf("a read-only key changed the member from %v to %v, or added one", flat(before), flat(after))
	}
}

func noGrant(t *testing.T, s *service) {
	boss := newID()
	g, u := s.guild(object{"visibility": "private", "ownerId": boss}), newID()
	s.create(s.key(g), g, u, 7)
	_, ofOwner := s.mint(object{"ownerId": boss})
	for _, key := range []string{s.key(), s.key(s.guild(nil)), ofOwner} {
		for _, c := range v2Calls(t, g, u) {
			wantRefused(t, s.Do(c.Method, c.Address(), key, bodyOrNone(c.Body)), 403)
		}
	}
	if xp := s.member(s.key(g), g, u).Level.XP; xp != 7 {
		t.Errorf("a key without a grant changed the member's XP from 7 to %d", xp)
	}
}

func grantsTakeEffect(t *testing.T, s *service) {
	g := s.guild(nil)
	id, key := s.mint(nil)
	for range 3 {
		wantRefused(t, s.Do("GET", rewardPath(g, 1), key, nil), 403)
		s.admin("PUT", "/keys/"+id+"/guilds/"+g, nil).Want(t, 204)
		s.Do("GET", rewardPath(g, 1), key, nil).Want(t, 200)
		s.admin("DELETE", "/keys/"+id+"/guilds/"+g, nil).Want(t, 204)
	}
}

func grantsGoWithGuild(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	s.create(key, g, newID(), 1)
	s.admin("DELETE", "/guilds/"+g, nil).Want(t, 204)
	s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201)
	wantRefused(t, s.Do("POST", memberPath(g, newID()), key, object{"xp": 1, "user": gopher}), 403)
}

func unauthorizedFirst(t *testing.T, s *service) {
	g, large := s.guild(nil), strings.Repeat(" ", 64<<10+1)
	for _, c := range []struct{ method, path, body, media string }{
		{"GET", memberPath("1", "2"), "", ""},
		{"GET", "/v2/guilds/" + g + "/role-rewards/level?level=x", "", ""},
		{"POST", memberPath(g, newID()), `{"xp":-1}`, "application/json"},
		{"POST", memberPath(g, newID()), large, "application/json"},
		{"PATCH", memberPath(g, newID()), `xp=1`, "text/plain"},
		{"DELETE", memberPath("x", "y"), "", ""},
	} {
		for _, key := range []string{"", "letmein"} {
			wantRefused(t, s.bad(c.method, c.path, key, bodyOrNone(c.body), apitest.Header("Content-Type", c.media)), 401)
		}
	}
	wantRefused(t, s.bad("GET", "/v2/levels/"+g+"?page=0", "letmein", nil), 401)
	wantRefused(t, s.bad("GET", "/v2/levels/a-b?page=1", "letmein", nil), 401)
}

func guildBeforePermission(t *testing.T, s *service) {
	key := s.reader()
	for _, c := range v2Calls(t, newID(), newID()) {
		wantRefused(t, s.Do(c.Method, c.Address(), key, bodyOrNone(c.Body)), 404)
	}
}

func permissionBeforeMember(t *testing.T, s *service) {
	g := s.guild(nil)
	reader, stranger := s.reader(g), s.key()
	wantRefused(t, s.Do("PATCH", memberPath(g, newID()), reader, object{"xp": 1}), 403)
	wantRefused(t, s.Do("DELETE", memberPath(g, newID()), reader, nil), 403)
	wantRefused(t, s.Do("GET", memberPath(g, newID()), stranger, nil), 403)
	wantRefused(t, s.Do("GET", memberPath(g, newID()), reader, nil), 404)
}

// A parameter that a route does not know changes nothing.
func unknownParameters(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	s.create(s.key(g), g, u, 7)
	reader := s.reader(g)
	for _, c := range v2Calls(t, g, u) {
		if c.Method == "GET" {
			s.bad("GET", c.Path+"?"+strings.TrimPrefix(c.Query+"&unknown=1", "&"), reader, nil).Want(t, 200)
		}
	}
}

func boardWithoutKey(t *testing.T, s *service) {
	private, disabled := s.guild(object{"visibility": "private"}), s.guild(object{"visibility": "private", "enabled": false})
	wantRefused(t, s.bad("GET", "/v2/levels/"+private+"?page=0", "", nil), 400)
	wantRefused(t, s.Do("GET", boardPath(newID(), 1), "", nil), 404)
	wantRefused(t, s.Do("GET", boardPath(disabled, 1), "", nil), 404)
	wantRefused(t, s.Do("GET", boardPath(private, 1), "", nil), 401)
}
