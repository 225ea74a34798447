package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

// adminCalls returns a valid call of each /admin endpoint, on a guild and a user that do not exist.
func adminCalls(t *testing.T) []apitest.Call {
	t.Helper()
	calls := slices.DeleteFunc(apitest.Calls(t, newID(), newID()), func(c apitest.Call) bool { return !c.Admin() })
	return append(calls, apitest.Call{Method: "HEAD", Path: "/admin/guilds"})
}

func adminTokens(t *testing.T, s *service) {
	for name, value := range map[string]string{
		"missing": "", "another": "Bearer " + strings.Repeat("x", len(s.token)), "cut short": "Bearer " + s.token[:len(s.token)-1],
		"longer": "Bearer " + s.token + "x", "another scheme": "Basic " + s.token, "without scheme": s.token, "empty": "Bearer ",
	} {
		calls := adminCalls(t)
		if value != "" {
			calls = calls[:1] // an address may send 20 wrong tokens a minute
		}
		for _, c := range calls {
			got := s.Do(c.Method, c.Address(), "", bodyOrNone(c.Body), func(r *http.Request) {
				if value != "" {
					r.Header.Set("Authorization", value)
				}
			}).Want(t, 401)
			if c.Method != "HEAD" {
				wantFailure(t, got, 401)
			}
			wantHeader(t, got, "WWW-Authenticate", "Bearer")
			if len(got.Header.Values("Etag")) > 0 || strings.Contains(string(got.Body), s.token) {
				t.Errorf("%s: the refusal has an ETag or repeats the token: %v %s", name, got.Header, got.Body)
			}
		}
	}
	s.Do("GET", "/admin/guilds?limit=1", "", nil, apitest.Header("Authorization", "bearer "+s.token)).Want(t, 200)
	wantFailure(t, s.admin("GET", "/nothing", nil), 404)
}

func operatorWithoutGuild(t *testing.T, s *service) {
	g := newID()
	for _, c := range apitest.Calls(t, g, newID()) {
		if creates := c.Method == "PUT" && c.Path == "/admin/guilds/"+g; c.Admin() && strings.Contains(c.Path, g) && !creates {
			wantFailure(t, s.Do(c.Method, c.Address(), "", bodyOrNone(c.Body), apitest.AdminToken(s.token)), 404)
		}
	}
}

func noSubstitute(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	wantFailure(t, s.Do("GET", "/admin/keys", key, nil), 401)
	wantFailure(t, s.Do("GET", "/admin/keys", "", nil, apitest.AdminToken(key)), 401)
	wantRefused(t, s.Do("GET", rewardPath(g, 1), s.token, nil), 401)
	wantRefused(t, s.Do("GET", rewardPath(g, 1), "", nil, apitest.AdminToken(s.token)), 401)
}

// With Redis and Postgres there is no admin token unless the operator sets one.
func TestAdminIsOffWithoutAToken(t *testing.T) {
	t.Parallel()
	s := start(t, append(onServers(t), "LEVELBOARD_ADMIN_TOKEN=")...)
	for _, token := range []string{"", adminToken} {
		for _, c := range adminCalls(t) {
			r := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
			got, err := s.quick(c.Method, c.Address(), "", c.Body, r)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != 404 {
				t.Errorf("%s %s is %d, want 404 without an admin token", c.Method, c.Address(), got.Status)
			}
		}
	}
}

func TestEmbeddedMakesAnAdminTokenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{"LEVELBOARD_DATA_DIR=" + dir, "LEVELBOARD_ADMIN_TOKEN="}
	s := start(t, environ...)
	s.admin("GET", "/keys", nil).Want(t, 200)
	path := filepath.Join(dir, "admin-token")
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if token := strings.TrimSpace(string(kept)); token != s.token || len(token) < 32 {
		t.Errorf("the token's file has %d characters, want the token that the service accepts, of 32 or more", len(token))
	}
	if about, err := os.Stat(path); err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("the token's file has the mode %v (%v), want 0600", about.Mode(), err)
	}
	s.stop(t)
	again := start(t, environ...)
	if again.token != s.token {
		t.Error("the second start created another token, want the one in the file")
	}
	again.stop(t)

	other := t.TempDir()
	if fresh := start(t, "LEVELBOARD_DATA_DIR="+other, "LEVELBOARD_ADMIN_TOKEN="); fresh.token == s.token {
		t.Error("two data directories have the same token, want a random one for each")
	}
	// A token from the operator takes precedence over the file's.
	given := start(t, "LEVELBOARD_DATA_DIR="+dir)
	given.admin("GET", "/keys", nil).Want(t, 200)
	given.token = s.token
	given.admin("GET", "/keys", nil).Want(t, 401)
}

func TestDataDirIsForOneProcess(t *testing.T) {
	t.Parallel()
	dir := "LEVELBOARD_DATA_DIR=" + t.TempDir()
	first := start(t, dir)
	second := newApp(t, dir)
	err := second.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Fatalf("starting a second service on one data directory: %v, want an error that it is in use", err)
	}
	first.guild(nil) // the first service still works
	first.stop(t)
	start(t, dir).guild(nil)
}
