package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

func TestBenchPrintsATableAndLeavesNothing(t *testing.T) {
	environ, _ := startService(t, "LEVELBOARD_RATE_LIMIT_IDENTITY=0")
	r := run(t, environ, "", "bench", "--scenario", "mixed", "--members", "120", "--concurrency", "3", "--duration", "200ms", "--seed", "5")
	if r.code != exitOK {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	for _, want := range []string{
		`^mixed at http://127\.0\.0\.1:\d+: 3 connections, 120 members \(uniform\), seed 5, 0\.\d s\n`,
		`\n +OPERATION +REQUESTS +ERRORS +PER SECOND +P50 MS`,
		`\n +increment +[\d,]+ +0 +[\d,]+ `,
		`\n +total +[\d,]+ +0 +[\d,]+ `,
		`\nVerified: 120 members gained the [\d,]+ XP that were acknowledged\.\n`,
	} {
		if !regexp.MustCompile(want).MatchString(r.stdout) {
			t.Errorf("the table does not match %s:\n%s", want, r.stdout)
		}
	}
	if out := succeed(t, environ, "", "guild", "list") + succeed(t, environ, "", "key", "list"); !strings.Contains(out, "no guild yet") || !strings.Contains(out, "no key yet") {
		t.Errorf("left behind:\n%s", out)
	}
}

func TestBenchPrintsOneDocument(t *testing.T) {
	environ, a := startService(t, "LEVELBOARD_RATE_LIMIT_IDENTITY=0")
	r := run(t, environ, "", "bench", "--members", "30", "--concurrency", "2", "--duration", "1200ms", "--keep", "--json", "--watch-ops", "http://"+a.OpsAddr()+"/")
	if r.code != exitOK || !strings.Contains(r.stderr, "levelboard: 1s of 1.2s: ") {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	var result struct {
		Scenario string
		Seed     *uint64
		Seconds  float64
		Total    struct {
			Requests  int64
			Errors    map[string]int64
			PerSecond float64
			LatencyMs struct{ P50, P90, P99, P999, Max float64 }
		}
		Verification struct {
			Done                       bool
			AcknowledgedXP, GainedXP   int64
			LostXP, TooMuchXP, Missing *int64
		}
		Watched struct{ Scrapes, Failures int }
	}
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil {
		t.Fatalf("%v\n%s", err, r.stdout)
	}
	total, v := result.Total, result.Verification
	if result.Scenario != "increment" || result.Seed == nil || total.Requests < 1 || total.Errors == nil || len(total.Errors) > 0 || total.PerSecond <= 0 {
		t.Errorf("%s", r.stdout)
	}
	if l := total.LatencyMs; l.P50 <= 0 || l.P50 > l.P90 || l.P90 > l.P99 || l.P99 > l.P999 || l.P999 > l.Max {
		t.Errorf("%s", r.stdout)
	}
	if !v.Done || v.AcknowledgedXP < total.Requests || v.GainedXP != v.AcknowledgedXP || *v.LostXP != 0 || *v.TooMuchXP != 0 || *v.Missing != 0 {
		t.Errorf("%s", r.stdout)
	}
	if result.Watched.Scrapes < 2 || result.Watched.Failures > 0 {
		t.Errorf("%s", r.stdout)
	}
	if rows := linesWith(succeed(t, environ, "", "guild", "list"), "bench"); len(rows) != 1 {
		t.Errorf("--keep did not keep the guild: %q", rows)
	}
	if r := run(t, environ, "", "bench", "--scenario", "page", "--members", "30", "--duration", "50ms"); r.code != exitOK {
		t.Errorf("a second run on the kept guild: exit code %d\n%s", r.code, r.stderr)
	}
}

// A service as it is started without any settings lets a caller make 1500 requests a minute. Bench measures what that allows, and one
// run after another, all within the minute.
func TestBenchOnAServiceWithDefaultLimits(t *testing.T) {
	environ, _ := startService(t)
	twice := func(verified bool, flags ...string) {
		t.Helper()
		for range 2 {
			r := run(t, environ, "", append([]string{"bench"}, flags...)...)
			const told = "levelboard: the service allows one caller 1,500 requests a minute, "
			if r.code != exitOK || !strings.Contains(r.stdout, "OPERATION") || strings.Contains(r.stdout, "\nVerified: ") != verified || !strings.HasPrefix(r.stderr, told) {
				t.Fatalf("%q: exit code %d\n%s\n%s", flags, r.code, r.stdout, r.stderr)
			}
		}
	}
	twice(true, "--members", "2000", "--concurrency", "8", "--duration", "2s") // more than calls that a caller may make
	for scenario, members := range map[string]string{
		"rank": "700", "page": "700", "page-while-writing": "700", "poll": "700", "messages": "400", "mixed": "400", // more of these would have to wait for their cooldowns
	} {
		verified := scenario == "page-while-writing" || scenario == "messages" || scenario == "mixed"
		twice(verified, "--scenario", scenario, "--members", members, "--concurrency", "2", "--duration", "100ms")
	}
	if out := succeed(t, environ, "", "guild", "list") + succeed(t, environ, "", "key", "list"); !strings.Contains(out, "no guild yet") || !strings.Contains(out, "no key yet") {
		t.Errorf("left behind:\n%s", out)
	}
}

func TestBenchNamesTheLimitThatHeldItBack(t *testing.T) {
	environ, _ := startService(t, "LEVELBOARD_RATE_LIMIT_IDENTITY=60")
	r := run(t, environ, "", "bench", "--members", "20", "--concurrency", "4", "--duration", "1s")
	if r.code != exitOK || !strings.Contains(r.stdout, "LEVELBOARD_RATE_LIMIT_IDENTITY=0") || !strings.Contains(r.stdout, "Verified: 20 members") {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	r = run(t, environ, "", "bench", "--members", "200", "--duration", "200ms")
	if r.code != exitFailed || r.stdout != "" || !strings.Contains(r.stderr, "the members cannot be created") || !strings.Contains(r.stderr, "LEVELBOARD_RATE_LIMIT_IDENTITY=0") {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
}
