package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/app"
)

// withMembers starts a service with the guild gophers, a key for it, and members with these XP.
func withMembers(t *testing.T, xp map[string]string) (environ []string, ask func(method, path, body string) (int, string)) {
	t.Helper()
	environ, a := startService(t, "LEVELBOARD_SNAPSHOT_INTERVAL=200ms", "LEVELBOARD_RATE_LIMIT_KEY=0", "LEVELBOARD_RATE_LIMIT_IDENTITY=0")
	succeed(t, environ, gophersDocument, "guild", "apply", "-f", "-")
	return environ, asker(t, environ, a, xp)
}

func asker(t *testing.T, environ []string, a *app.App, xp map[string]string) func(method, path, body string) (int, string) {
	t.Helper()
	var key struct{ Key string }
	out := succeed(t, environ, "", "key", "create", "--name", "n", "--owner", gophers, "--permission", "read_write", "--guild", gophers, "--json")
	if err := json.Unmarshal([]byte(out), &key); err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body string) (int, string) {
		t.Helper()
		return paste(t, "curl -X "+method+" -H 'X-Api-Key: "+key.Key+"' -H 'Content-Type: application/json' -d '"+body+"' '"+a.URL()+"/v2"+path+"'")
	}
	for user, xp := range xp {
		if status, body := ask("POST", "/levels/"+gophers+"/users/"+user, `{"xp":`+xp+`,"user":{"username":"u","discriminator":"0","globalName":null,"avatar":null}}`); status >= 300 {
			t.Fatalf("creating member %s: %d %s", user, status, body)
		}
	}
	return ask
}

func TestACheckpointIsCreatedRestoredAndDeleted(t *testing.T) {
	const user = "100000000000000005"
	environ, ask := withMembers(t, map[string]string{user: "500"})
	at := []string{"--guild", gophers}
	command := func(args ...string) string {
		t.Helper()
		return succeed(t, environ, "", append(args, at...)...)
	}
	if out := command("checkpoint", "list"); !strings.Contains(out, "no checkpoint yet") {
		t.Errorf("checkpoint list without checkpoints prints %q", out)
	}
	var made checkpoint
	if err := json.Unmarshal([]byte(command("checkpoint", "create", "--name", "contest", "--json")), &made); err != nil || made.Members != 1 {
		t.Fatalf("checkpoint create: %+v (%v), want one of 1 member", made, err)
	}
	if out := command("reset", "--yes"); !strings.Contains(out, "has 0 members now; it had 1 member.\nTo undo it: levelboard checkpoint restore ") {
		t.Errorf("reset prints %q, want the numbers and how to undo it", out)
	}
	if status, _ := ask("GET", "/levels/"+gophers+"/users/"+user, ""); status != http.StatusNotFound {
		t.Errorf("after a reset the member is %d, want 404", status)
	}
	if out := command("checkpoint", "restore", made.ID, "--yes"); !strings.Contains(out, "has 1 member now; it had 0 members.") {
		t.Errorf("checkpoint restore prints %q, want the numbers", out)
	}
	if status, body := ask("GET", "/levels/"+gophers+"/users/"+user, ""); status != http.StatusOK || !strings.Contains(body, `"xp":500`) {
		t.Errorf("after a restore the member is %d %s, want 500 XP", status, body)
	}
	if rows := linesWith(command("checkpoint", "list"), "automatic"); len(rows) != 2 {
		t.Errorf("checkpoint list has the automatic checkpoints %q, want 2", rows)
	}
	if out := command("checkpoint", "delete", made.ID, "--yes"); out != "Deleted the checkpoint "+made.ID+".\n" {
		t.Errorf("checkpoint delete prints %q", out)
	}
	fail(t, environ, exitFailed, "the service answered 404: ", append([]string{"checkpoint", "restore", made.ID, "--yes"}, at...)...)
}

// Without a terminal, commands that cannot be undone do nothing unless --yes is given.
func TestCommandsThatCannotBeUndoneNeedYes(t *testing.T) {
	asked := 0
	environ := listen(t, func(w http.ResponseWriter, _ *http.Request) { asked++ })
	for _, args := range [][]string{
		{"guild", "delete", gophers}, {"reset", "--guild", gophers}, {"checkpoint", "restore", "1", "--guild", gophers},
		{"checkpoint", "delete", "1", "--guild", gophers}, {"user", "erase", "100000000000000005"},
	} {
		fail(t, environ, exitUsage, "use --yes to continue", args...)
	}
	if asked > 0 {
		t.Errorf("without --yes the service got %d requests, want 0", asked)
	}
}

func TestExportWritesMembers(t *testing.T) {
	const user = "100000000000000005"
	environ, _ := withMembers(t, map[string]string{user: "500"})
	if out := succeed(t, environ, "", "export", "--guild", gophers, "--format", "json"); !strings.Contains(out, `"userId":"`+user+`"`) || !json.Valid([]byte(out)) {
		t.Errorf("the JSON export is %s, want the member", out)
	}
	file := filepath.Join(t.TempDir(), "members.csv")
	if out := succeed(t, environ, "", "export", "--guild", gophers, "--format", "csv", "--out", file); out != "" {
		t.Errorf("an export to a file prints %q, want nothing", out)
	}
	if content, err := os.ReadFile(file); err != nil || !strings.Contains(string(content), user+",500,") {
		t.Errorf("the CSV export is %s (%v), want the member with 500 XP", content, err)
	}
	fail(t, environ, exitFailed, "is not a regular file", "export", "--guild", gophers, "--format", "csv", "--out", t.TempDir())
}

func TestAFailedExportChangesNoFile(t *testing.T) {
	environ := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"levels":[`))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	dir := t.TempDir()
	file := filepath.Join(dir, "members.json")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	fail(t, environ, exitFailed, "the export was cut off", "export", "--guild", gophers, "--format", "json", "--out", file)
	left, err := os.ReadDir(dir)
	if content, _ := os.ReadFile(file); err != nil || len(left) != 1 || string(content) != "before" {
		t.Errorf("a failed export left the files %v with the content %q (%v), want the old file", left, content, err)
	}
}
