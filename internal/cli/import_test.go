package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

type importAnswer struct {
	Members, Created, Changed, Unchanged, Capped int
	Skipped                                      []struct {
		Line   int
		Reason string
	}
	Checkpoint *string
}

// imports runs an import that must succeed.
func imports(t *testing.T, environ []string, stdin string, args ...string) (answer importAnswer) {
	t.Helper()
	r := run(t, environ, stdin, append([]string{"import", "--guild", gophers, "--yes", "--json"}, args...)...)
	if r.code != exitOK {
		t.Fatalf("import %v: the exit code is %d, want 0\n%s", args, r.code, r.stderr)
	}
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// exported returns the guild's members, one a line, without the time of their last change.
func exported(t *testing.T, environ []string) string {
	t.Helper()
	var all struct{ Levels []map[string]any }
	if err := json.Unmarshal([]byte(succeed(t, environ, "", "export", "--guild", gophers, "--format", "json")), &all); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, member := range all.Levels {
		delete(member, "lastUpdated")
		line, err := json.Marshal(member)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", line)
	}
	return lines.String()
}

const samples = "../usecase/importer/testdata/"

func TestFilesOfOtherServicesAreImported(t *testing.T) {
	environ, _ := withMembers(t, nil)
	files := []string{samples + "levelup-cog.json", "--source-guild", "1092837465019283747"}
	plan := imports(t, environ, "", append(files, "--dry-run")...)
	if empty := exported(t, environ); plan.Members == 0 || plan.Created != plan.Members || plan.Checkpoint != nil || empty != "" {
		t.Errorf("the dry run answers %+v and left %s, want all members created in the plan and none in the guild", plan, empty)
	}
	done := imports(t, environ, "", files...)
	there := exported(t, environ)
	if done.Members != plan.Members || done.Created != plan.Created || done.Checkpoint == nil || strings.Count(there, "\n") != done.Members {
		t.Errorf("the import answers %+v, want the plan %+v and a checkpoint; the members are\n%s", done, plan, there)
	}
	if again := imports(t, environ, "", files...); again.Unchanged != done.Members || exported(t, environ) != there {
		t.Errorf("the same import again answers %+v, want all unchanged\n%s\n%s", again, there, exported(t, environ))
	}
}

func TestAnExportIsImportedExactly(t *testing.T) {
	environ, ask := withMembers(t, map[string]string{"100000000000000005": "500", "100000000000000006": "0"})
	for _, put := range [][2]string{
		{"/guilds/" + gophers + "/members", `{"mode":"set","members":[{"userId":"100000000000000005","xp":501,"messageCount":7,"user":{"username":"=1+1","discriminator":"0001","globalName":"a, \"b\"","avatar":"a_0123456789abcdef0123456789abcdef"}},{"userId":"100000000000000007","xp":9}]}`},
		{"/guilds/" + gophers + "/presence", `{"present":false,"userIds":["100000000000000006"]}`},
	} {
		if status, body := ask("PUT", put[0], put[1]); status != http.StatusOK {
			t.Fatalf("creating the member: %d %s, want 200", status, body)
		}
	}
	before := exported(t, environ)
	for _, format := range []string{"json", "csv"} {
		file := filepath.Join(t.TempDir(), "members."+format)
		succeed(t, environ, "", "export", "--guild", gophers, "--format", format, "--out", file)
		succeed(t, environ, "", "reset", "--guild", gophers, "--yes")
		if done := imports(t, environ, "", file); done.Created != 3 || len(done.Skipped) != 0 {
			t.Errorf("importing the %s answers %+v, want 3 created", format, done)
		}
		if after := exported(t, environ); after != before {
			t.Errorf("after importing the %s the members are\n%s\nwant\n%s", format, after, before)
		}
	}
}

// table returns n members as CSV.
func table(n int) string {
	var b bytes.Buffer
	b.WriteString("id,xp\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%d\n", 200000000000000000+i, 100+i)
	}
	return b.String()
}

// An import was interrupted between two calls, or lost an answer. Running it again adds nothing twice.
func TestAnInterruptedImportIsCompleted(t *testing.T) {
	environ, a := startService(t, "LEVELBOARD_SNAPSHOT_INTERVAL=200ms")
	succeed(t, environ, gophersDocument, "guild", "apply", "-f", "-")
	service, err := url.Parse(a.URL())
	if err != nil {
		t.Fatal(err)
	}
	var puts atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(service)
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/members") || puts.Add(1) == 1 {
			proxy.ServeHTTP(w, r)
			return
		}
		proxy.ServeHTTP(httptest.NewRecorder(), r) // made, but the answer is lost
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer cut.Close()
	args := []string{"import", "-", "--guild", gophers, "--mode", "add", "--yes"}
	r := run(t, environ, table(2500), append(args, "--url", cut.URL)...)
	if r.code != exitFailed || !strings.Contains(r.stderr, "run it again to complete it, or undo it with 'levelboard checkpoint restore ") {
		t.Fatalf("the interrupted import: exit code %d, want it to say how to complete or undo it: %s", r.code, r.stderr)
	}
	// With other options the calls would differ. The import is refused before it changes anything.
	r = run(t, environ, table(2500), append(args, "--min-level", "5")...)
	if r.code != exitFailed || !strings.Contains(r.stderr, "had other options") || !strings.Contains(r.stderr, "levelboard checkpoint restore ") {
		t.Errorf("with other options: exit code %d, want a refusal: %s", r.code, r.stderr)
	}
	if done := imports(t, environ, table(2500), "-", "--mode", "add"); done.Created != 2500 {
		t.Errorf("the completed import answers %+v, want 2500 created", done)
	}
	want := fmt.Sprintf(`"xp":%d`, 100+1500)
	if there := exported(t, environ); strings.Count(there, "\n") != 2500 || len(linesWith(there, `"200000000000001500"`)) != 1 || !strings.Contains(linesWith(there, `"200000000000001500"`)[0], want) {
		t.Errorf("the member is %v, want it once, with %s", linesWith(there, `"200000000000001500"`), want)
	}
	r = run(t, environ, table(2500), args...)
	if r.code != exitFailed || !strings.Contains(r.stderr, "--again") {
		t.Errorf("the same import once more: exit code %d, want a hint to --again: %s", r.code, r.stderr)
	}
	if done := imports(t, environ, table(2500), "-", "--mode", "add", "--again"); done.Changed != 2500 {
		t.Errorf("with --again the import answers %+v, want 2500 changed", done)
	}
}

func TestAnImportPrintsItsPlan(t *testing.T) {
	environ, _ := withMembers(t, map[string]string{"200000000000000001": "900", "200000000000000002": "5"})
	content := "id,xp,name\n200000000000000001,10,Ada\n200000000000000002,10,Bob\n200000000000000003,9999999999,Cy\n12,4,Di\n200000000000000004,x,Ed\n"
	file := filepath.Join(t.TempDir(), "members.csv")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	out := succeed(t, environ, "", "import", file, "--guild", gophers, "--yes")
	for _, says := range []string{
		"3  Members", "1  New", "2  Changed", "1  Lower than now", "1  Capped at the maximum XP", "2  Skipped rows", ":5, row 4: the user id is not 17 to 19 digits",
		":6, row 5: the XP is not a number", "Imported 3 members: 1 new, 2 changed, 0 unchanged.", "To undo it: levelboard checkpoint restore ",
	} {
		if !strings.Contains(out, says) {
			t.Errorf("the import does not print %q:\n%s", says, out)
		}
	}
	fail(t, environ, exitUsage, "use --yes to continue", "import", file, "--guild", gophers)
	if r := run(t, environ, "", "import", file+"x", "--guild", gophers, "--yes"); r.code != exitFailed || strings.Count(r.stderr, file+"x") != 1 {
		t.Errorf("without the file: exit code %d, want the file's name once: %s", r.code, r.stderr)
	}
}

// A program that reads --json sees warnings on standard error.
func TestWarningsOfAnImportGoToStandardError(t *testing.T) {
	environ, _ := withMembers(t, nil)
	for _, flags := range [][]string{{"--dry-run"}, {"--dry-run", "--json"}} {
		r := run(t, environ, "", append([]string{"import", samples + "arcane-scrape.json", "--guild", gophers}, flags...)...)
		if r.code != exitOK || strings.Contains(r.stdout, "may be Arcane's") || !strings.Contains(r.stderr, "may be Arcane's") {
			t.Errorf("%v: exit code %d, want the warning on standard error only\n%s\n%s", flags, r.code, r.stdout, r.stderr)
		}
	}
}

// An import of nothing fails and makes no checkpoint.
func TestAnImportOfNothingFails(t *testing.T) {
	environ, _ := withMembers(t, nil)
	for _, flag := range []string{"--yes", "--dry-run"} {
		for content, says := range map[string]string{"id,xp\n": "There is nothing to import", "id,xp\n12,5\n": "the user id is not 17 to 19 digits"} {
			r := run(t, environ, content, "import", "-", "--guild", gophers, flag)
			if r.code != exitFailed || !strings.Contains(r.stderr, says) {
				t.Errorf("with %s, importing %q: exit code %d, want %q: %s", flag, content, r.code, says, r.stderr)
			}
		}
	}
	if list := succeed(t, environ, "", "checkpoint", "list", "--guild", gophers, "--json"); strings.Contains(list, "Before an import") {
		t.Errorf("the failed imports made checkpoints: %s", list)
	}
}

func TestAFilesSettingsAreImported(t *testing.T) {
	environ, _ := withMembers(t, nil)
	files := []string{"import", samples + "mee6-page0.json", samples + "mee6-page1.json", "--guild", gophers, "--yes"}
	for says, flag := range map[string]string{
		"which --settings takes: the curve, the role rewards (": "--dry-run",
		"The settings that were taken stay.":                    "--settings",
	} {
		if r := run(t, environ, "", append(files, flag)...); r.code != exitOK || !strings.Contains(r.stdout, says) {
			t.Errorf("with %s the exit code is %d, want 0 and %q in\n%s", flag, r.code, says, r.stdout)
		}
	}
	if document := succeed(t, environ, "", "guild", "get", gophers, "--json"); !strings.Contains(document, `"curve":"mee6"`) || !strings.Contains(document, `"timeZone":"Europe/Berlin"`) {
		t.Errorf("the guild is %s, want the file's curve and the old time zone", document)
	}
}
