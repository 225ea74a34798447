package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAuditListsWhoChangedWhat(t *testing.T) {
	const user = "100000000000000005"
	environ, ask := withMembers(t, map[string]string{user: "500"})
	if status, body := ask("PATCH", "/levels/"+gophers+"/users/"+user, `{"xp":7}`); status != 200 {
		t.Fatalf("changing the member: %d %s, want 200", status, body)
	}
	succeed(t, environ, strings.Replace(gophersDocument, `"id"`, `"xpPerMessageMax":50,"id"`, 1), "guild", "apply", "-f", "-")
	succeed(t, environ, "", "checkpoint", "create", "--guild", gophers, "--name", "n", "--reason", "before: 50 % \"ü\"")
	audit := func(args ...string) string {
		t.Helper()
		return succeed(t, environ, "", append([]string{"audit", "--guild", gophers}, args...)...)
	}
	lines := strings.Split(strings.TrimSpace(audit()), "\n")
	if len(lines) != 7 || !strings.HasPrefix(lines[0], "AT ") || !strings.Contains(lines[1], " operator ") || !strings.HasSuffix(lines[1], "1 member") ||
		!strings.Contains(lines[1], `before: 50 % "ü"`) || !strings.HasSuffix(lines[2], "  Maximum XP per message: 40 -> 50") || !strings.Contains(lines[3], "(n)") ||
		!strings.Contains(lines[3], user) || !strings.HasSuffix(lines[3], "  500 -> 7") || !strings.HasSuffix(lines[4], " -> 500") ||
		!strings.HasSuffix(lines[6], "  created") {
		t.Errorf("the log lacks a change or its values:\n%s", strings.Join(lines, "\n"))
	}
	var answer struct {
		Records []auditRecord
		Next    *string
	}
	if err := json.Unmarshal([]byte(audit("--user", user, "--since", "24h", "--json")), &answer); err != nil || len(answer.Records) != 2 || answer.Next != nil || answer.Records[0].Action != "set" {
		t.Errorf("the user's records are %+v (%v), want two, the newest \"set\"", answer, err)
	}
	if out := audit("--actor", "operator", "--since", "1d"); strings.Count(out, "\n") != 5 || strings.Contains(out, "(n)") {
		t.Errorf("the operator's records are not 5 lines:\n%s", out)
	}
	if out := audit("--actor", "nobody"); out != "There is no record.\n" {
		t.Errorf("for an unknown actor the command prints %q", out)
	}
	succeed(t, environ, "", "checkpoint", "create", "--guild", gophers, "--name", "n", "--reason", strings.Repeat("ü", 300))
	if out := audit("--since", "1d"); !strings.Contains(out, strings.Repeat("ü", 100)+"... (600 bytes, see --json)") {
		t.Errorf("a long reason is not cut to 100 characters:\n%s", out)
	}
	if out := succeed(t, environ, "", "audit", "--help"); strings.Contains(out, "--reason") {
		t.Errorf("the help of a read offers --reason:\n%s", out)
	}
	for want, args := range map[string][]string{
		"a guild's id":    {"audit", "--guild", "1"},
		"a user's id":     {"audit", "--guild", gophers, "--user", "x"},
		"--since takes":   {"audit", "--guild", gophers, "--since", "yesterday"},
		`"guild" not set`: {"audit"},
	} {
		fail(t, environ, exitUsage, want, args...)
	}
	fail(t, environ, exitFailed, "answered 400: The header X-Audit-Log-Reason", "checkpoint", "create", "--guild", gophers, "--name", "n", "--reason", strings.Repeat("x", 513))
}
