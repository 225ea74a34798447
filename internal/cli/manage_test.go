package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const gophers = "100000000000000009"

const gophersDocument = `{
	"id": "` + gophers + `", "name": "Gophers", "memberCount": 50, "ownerId": "100000000000000001", "vanity": "gophers",
	"multipliers": [{"type":"Channel","multiplier":2,"targets":[{"id":"200000000000000001","name":"help","parentId":null,"position":1,"type":0}]}],
	"roleRewards": [{"level":5,"stack":false,"roles":[{"id":"300000000000000001","name":"Regular","color":null,"position":1}]}],
	"timeZone": "Europe/Berlin", "periods": ["week", "month"],
	"seasons": [{"id":"winter-26","name":"Winter","start":"2026-12-01","end":"2027-03-01"}]
}`

func TestAGuildIsAppliedReadAndDeleted(t *testing.T) {
	environ, _ := startService(t)
	if out := succeed(t, environ, "", "guild", "list"); !strings.Contains(out, "no guild yet") {
		t.Errorf("guild list without guilds prints %q", out)
	}
	path := filepath.Join(t.TempDir(), "guild.json")
	if err := os.WriteFile(path, []byte(gophersDocument), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := succeed(t, environ, "", "guild", "apply", "-f", path); out != "Created the guild Gophers ("+gophers+"): board public, gophers, leveling enabled.\n" {
		t.Errorf("the first apply prints %q", out)
	}

	document := succeed(t, environ, "", "guild", "get", gophers, "--json")
	changed := strings.Replace(document, `"Gophers"`, `"Gopher Den"`, 1)
	if out := succeed(t, environ, changed, "guild", "apply", "-f", "-"); !strings.HasPrefix(out, "Updated the guild Gopher Den") {
		t.Errorf("the second apply prints %q, want Updated", out)
	}
	if again := succeed(t, environ, "", "guild", "get", gophers, "--json"); again != changed {
		t.Errorf("applying the document of get changed it from\n%s\nto\n%s", changed, again)
	}
	if out := succeed(t, environ, changed, "guild", "apply", "-f", "-", "--json"); out != changed {
		t.Errorf("apply --json prints %q, want %q as get --json", out, changed)
	}

	out := succeed(t, environ, "", "guild", "get", gophers)
	for _, fact := range []string{"Gopher Den", "  Minimum XP per message    15\n", "  XP cooldown               1 minute\n", "2 for the channel help",
		"level 5: Regular (until the next reward)", "  Curve                     default\n", "Europe/Berlin", "week, month", "winter-26: Winter, from 2026-12-01 to the day before 2027-03-01",
		"  Embedding                 off\n", "  Recorded increments from  1000\n", "  Ignored roles             none\n"} {
		if !strings.Contains(out, fact) {
			t.Errorf("guild get does not print %q:\n%s", fact, out)
		}
	}
	if rows := linesWith(succeed(t, environ, "", "guild", "list"), gophers); len(rows) != 1 || !strings.Contains(rows[0], "Gopher Den") {
		t.Errorf("guild list has the rows %q, want one with Gopher Den", rows)
	}

	if out := succeed(t, environ, "", "guild", "delete", gophers, "--yes"); !strings.Contains(out, "Deleted") {
		t.Errorf("guild delete prints %q, want Deleted", out)
	}
	fail(t, environ, exitFailed, "the service answered 404: ", "guild", "get", gophers)
	fail(t, environ, exitFailed, "the service answered 404: ", "guild", "delete", gophers, "--yes")
}

func TestARefusedDocumentHasTheServicesMessage(t *testing.T) {
	environ, _ := startService(t)
	r := run(t, environ, strings.Replace(gophersDocument, `"memberCount": 50`, `"memberCount": 0`, 1), "guild", "apply", "-f", "-")
	if r.code != exitFailed || !strings.Contains(r.stderr, "the service answered 400: ") || !strings.Contains(r.stderr, "memberCount") {
		t.Errorf("apply of a bad document: exit code %d with %q, want the service's 400", r.code, r.stderr)
	}
}

// A wrong token's message says where the token came from and how to give another. It does not mention headers.
func TestAWrongAdminTokenIsNamed(t *testing.T) {
	environ, a := startService(t)
	wrong, elsewhere := strings.Repeat("x", 32), t.TempDir()
	file := filepath.Join(elsewhere, "admin-token")
	if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	const remedy = ": give the one that it was started with, by --admin-token or LEVELBOARD_ADMIN_TOKEN\n"
	fail(t, environ, exitFailed, "the service does not accept the admin token from --admin-token"+remedy, "guild", "list", "--admin-token", wrong)
	for from, setting := range map[string]string{
		"LEVELBOARD_ADMIN_TOKEN":      "LEVELBOARD_ADMIN_TOKEN=" + wrong,
		"LEVELBOARD_ADMIN_TOKEN_FILE": "LEVELBOARD_ADMIN_TOKEN_FILE=" + file,
		file:                          "LEVELBOARD_DATA_DIR=" + elsewhere,
	} {
		fail(t, []string{"LEVELBOARD_URL=" + a.URL(), setting}, exitFailed, "the service does not accept the admin token from "+from+remedy, "key", "list")
	}
}

func TestAKeyIsCreatedGrantedAndRevoked(t *testing.T) {
	environ, a := startService(t)
	succeed(t, environ, gophersDocument, "guild", "apply", "-f", "-")
	member := a.URL() + "/v2/levels/" + gophers + "/users/100000000000000005"

	out := succeed(t, environ, "", "key", "create", "--name", "bot", "--owner", "100000000000000001", "--permission", "read_write",
		"--guild", gophers, "--expires", "720h", "--rate-limit", "600")
	secret := regexp.MustCompile(`lb_\S+`).FindString(out)
	if secret == "" || !strings.Contains(out, "only time that it is shown") || !strings.Contains(out, "600 a minute") {
		t.Fatalf("key create does not print the secret with its limit:\n%s", out)
	}
	lines := linesWith(out, "curl ")
	if len(lines) != 1 {
		t.Fatalf("key create prints no curl command:\n%s", out)
	}
	if status, body := paste(t, lines[0]); status != http.StatusOK {
		t.Errorf("%s: %d %s, want 200", lines[0], status, body)
	}

	var created struct {
		ID, Key   string
		GuildIDs  []string
		ExpiresAt *time.Time
		RateLimit *int
	}
	out = succeed(t, environ, "", "key", "create", "--name", "reader", "--owner", "100000000000000001", "--permission", "read", "--json")
	if err := json.Unmarshal([]byte(out), &created); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(created.Key, "lb_") || len(created.GuildIDs) != 0 || created.ExpiresAt != nil || created.RateLimit != nil {
		t.Errorf("key create --json prints %s, want a key without guilds, expiry or limit", out)
	}
	call := curl(created.Key, member)
	expect := func(status int, when string) {
		t.Helper()
		if got, body := paste(t, call); got != status {
			t.Errorf("%s %s: %d %s, want %d", when, call, got, body, status)
		}
	}
	expect(http.StatusForbidden, "a key without a grant")
	succeed(t, environ, "", "key", "grant", created.ID, gophers)
	expect(http.StatusNotFound, "a granted key, no such member")
	succeed(t, environ, "", "key", "ungrant", created.ID, gophers)
	expect(http.StatusForbidden, "an ungranted key")
	if out := succeed(t, environ, "", "key", "revoke", created.ID, "--json"); out != "" {
		t.Errorf("key revoke --json prints %q, want nothing, as the endpoint answers", out)
	}
	expect(http.StatusUnauthorized, "a revoked key")

	list := succeed(t, environ, "", "key", "list") + succeed(t, environ, "", "key", "list", "--json")
	if strings.Contains(list, secret) || !strings.Contains(list, "bot") {
		t.Errorf("key list prints a secret, or lacks the key:\n%s", list)
	}
	fail(t, environ, exitFailed, "'levelboard key list' lists", "key", "grant", "nokey0000000", gophers)
}

func TestAKeyExpiresAfterHoursOrDays(t *testing.T) {
	var asked struct{ ExpiresAt time.Time }
	environ := listen(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"id":"Abc123xyzZ09","name":"bot","permission":"read"}`))
	})
	for expires, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "720h": 720 * time.Hour, "1h30m": 90 * time.Minute, "1d": 24 * time.Hour, "30d": 720 * time.Hour, "106751d": 106751 * 24 * time.Hour,
	} {
		before := time.Now().Add(want).Truncate(time.Millisecond)
		succeed(t, environ, "", "key", "create", "--name", "bot", "--owner", "100000000000000001", "--permission", "read", "--expires", expires)
		if at := asked.ExpiresAt; at.Before(before) || at.After(time.Now().Add(want)) {
			t.Errorf("--expires %s sent %v, want about %v from now", expires, at, want)
		}
	}
}

// People know a key's first 15 characters from the pages, or have the whole key. A secret must appear neither in an address, which proxies
// log, nor in the output.
func TestAKeyMayBeGivenByItsIDPrefixOrSecret(t *testing.T) {
	const keyID, secret = "Abc123xyzZ09", "abcdefghijklmnopqrstuvwxyzABCDEF1biDIx"
	var asked []string
	environ := listen(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	})
	for _, named := range []string{keyID, "lb_" + keyID, "lb_" + keyID + "…", "lb_" + keyID + secret} {
		asked = nil
		out := succeed(t, environ, "", "key", "grant", named, gophers) + succeed(t, environ, "", "key", "ungrant", named, gophers) +
			succeed(t, environ, "", "key", "revoke", named)
		grant := "/admin/keys/" + keyID + "/guilds/" + gophers
		if want := []string{"PUT " + grant, "DELETE " + grant, "DELETE /admin/keys/" + keyID}; !slices.Equal(asked, want) {
			t.Errorf("with %s the requests are %q, want %q", named, asked, want)
		}
		if strings.Contains(out, secret) || !strings.Contains(out, "Revoked the key "+keyID+".") {
			t.Errorf("with %s the command prints %q, want the id without the secret", named, out)
		}
	}
	asked = nil
	for _, none := range []string{"kk9", "lb_" + keyID + secret[:20], keyID + secret, "../guilds"} {
		r := run(t, environ, "", "key", "revoke", none)
		if r.code != exitUsage || !strings.Contains(r.stderr, "'levelboard key list' lists them") || strings.Contains(r.stderr, none) {
			t.Errorf("with %s: exit code %d with %q, want a usage error that does not repeat it", none, r.code, r.stderr)
		}
	}
	if len(asked) > 0 {
		t.Errorf("invalid keys sent the requests %q, want none", asked)
	}
}

func TestHealthcheckOfARunningService(t *testing.T) {
	environ, _ := startService(t)
	if out := succeed(t, environ, "", "healthcheck"); out != "ready\n" {
		t.Errorf("healthcheck prints %q, want ready", out)
	}
}

func TestMigrateUpdatesTheEmbeddedArchive(t *testing.T) {
	environ := []string{"LEVELBOARD_DATA_DIR=" + filepath.Join(t.TempDir(), "data")}
	fail(t, environ, exitFailed, "no archive in", "migrate", "status")
	succeed(t, environ, "", "migrate", "up")
	succeed(t, environ, "", "migrate", "up")
	out := succeed(t, environ, "", "migrate", "status")
	if strings.Count(out, "\n") < 2 || strings.Contains(out, "not applied yet") {
		t.Errorf("after migrate up the status is\n%s", out)
	}
}
