package cli

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestShowAndEraseAUser(t *testing.T) {
	const user, other = "100000000000000005", "100000000000000006"
	environ, ask := withMembers(t, map[string]string{user: "500", other: "7"})
	key := []string{"key", "create", "--name", "my bot", "--owner", user, "--permission", "read"}
	succeed(t, environ, "", key...)
	out := succeed(t, environ, "", "user", "show", user)
	for _, want := range []string{"User " + user + ": 1 guild, 1 key, 0 sessions, ", "GUILD", gophers, "500", "my bot"} {
		if !strings.Contains(out, want) {
			t.Errorf("user show prints %q, want %q in it", out, want)
		}
	}
	var stored storedUser
	if err := json.Unmarshal([]byte(succeed(t, environ, "", "user", "show", user, "--json")), &stored); err != nil || len(stored.Guilds) != 1 || stored.Guilds[0].XP != 500 {
		t.Errorf("user show --json prints %+v (%v), want one guild with 500 XP", stored, err)
	}
	if out := succeed(t, environ, "", "user", "erase", user, "--yes"); out != "Erased the user "+user+".\n" {
		t.Errorf("user erase prints %q", out)
	}
	fail(t, environ, exitFailed, "the service answered 404: ", "user", "show", user)
	if status, _ := ask("GET", "/levels/"+gophers+"/users/"+user, ""); status != http.StatusNotFound {
		t.Errorf("after the erasure the member is %d, want 404", status)
	}
	if rows := linesWith(succeed(t, environ, "", "key", "list"), "my bot"); !slices.Equal(rows, nil) {
		t.Errorf("after the erasure the user's key is listed: %q", rows)
	}
	if out := succeed(t, environ, "", "user", "erase", user, "--yes", "--json"); out != "" {
		t.Errorf("erasing the user again prints %q, want nothing", out)
	}
}
