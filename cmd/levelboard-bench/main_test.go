package main

import (
	"encoding/json"
	"strings"
	"testing"

	"levelboard/internal/bench/loadgen"
	"levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// call runs the program.
func call(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), args, environment{&out, &errs, environ})
	return code, out.String(), errs.String()
}

func TestALoadIsPutOnAService(t *testing.T) {
	a := service.Embedded(t, "LEVELBOARD_RATE_LIMIT_IDENTITY=60")
	environ := []string{"LEVELBOARD_URL=" + a.URL(), "LEVELBOARD_ADMIN_TOKEN=" + service.AdminToken}

	code, stdout, stderr := call(t, environ, "--members", "30", "--concurrency", "2", "--duration", "1200ms", "--json", "--watch-ops", "http://"+a.OpsAddr()+"/")
	var result loadgen.Result
	if err := json.Unmarshal([]byte(stdout), &result); code != exitOK || err != nil {
		t.Fatalf("the exit code is %d (%v), want a JSON result\n%s\n%s", code, err, stdout, stderr)
	}
	if v := result.Verification; result.Scenario != "increment" || result.Total.Requests == 0 || v == nil || v.Gained != v.Acknowledged || result.Watched.Failures > 0 {
		t.Errorf("the result is %s, want verified increments", stdout)
	}
	if !strings.Contains(stderr, " 1s of 1.2s: ") {
		t.Errorf("standard error has no progress: %s", stderr)
	}

	// The service soon refuses requests. This is no failure, and the table names the limit.
	code, stdout, stderr = call(t, environ, "--members", "30", "--concurrency", "4", "--duration", "2s")
	if code != exitOK || !strings.Contains(stdout, "OPERATION") || !strings.Contains(stdout, "Verified: 30 members") || !strings.Contains(stdout, "LEVELBOARD_RATE_LIMIT_IDENTITY=0") {
		t.Errorf("the exit code is %d, want a table that names the limit\n%s\n%s", code, stdout, stderr)
	}

	code, stdout, stderr = call(t, environ, "--admin-token", strings.Repeat("x", 40))
	if code != exitFailed || stdout != "" || !strings.Contains(stderr, "levelboard-bench: the service does not accept the admin token") {
		t.Errorf("with a wrong admin token the exit code is %d\n%s\n%s", code, stdout, stderr)
	}
}

func TestWrongUsageExitsWith2(t *testing.T) {
	for says, flags := range map[string]string{
		"--scenario must be one of increment, rank, page, page-while-writing, poll, messages, mixed": "--scenario all",
		"--concurrency must be from 1":                       "--concurrency 5000",
		"--duration must be longer":                          "--duration 0s",
		"--members must be from 1":                           "--members 5000001",
		"--rate must be from 1":                              "--rate 0",
		"--active must be from 1":                            "--active 11 --members 10",
		"--active is for the scenarios increment and rank":   "--active 2 --scenario page",
		"not more than the members":                          "--guilds 11 --members 10",
		"--guilds is for the scenarios increment and rank":   "--guilds 2 --scenario page",
		"--page must be one that the members fill":           "--page 12 --members 1100 --scenario page",
		"--page is for scenarios that read pages":            "--page 1",
		"--key-limit must be from 0":                         "--key-limit -1",
		"--skew must be uniform or zipf":                     "--skew none",
		"--batch is for the scenario messages":               "--batch 10",
		"--batch must be from 1 to 1000 or mixed":            "--scenario messages --batch 1001",
		"--verify is for scenarios that change XP":           "--verify --scenario page",
		"--watch-ops must be an http://":                     "--watch-ops 127.0.0.1:9464",
		"--url must be an http://":                           "--url localhost:8080",
		"unknown flag: --replay":                             "--replay x",
		`unknown command "increment" for "levelboard-bench"`: "increment",
	} {
		code, _, stderr := call(t, []string{"LEVELBOARD_ADMIN_TOKEN=x"}, strings.Fields(flags)...)
		if code != exitUsage || !strings.Contains(stderr, says) || !strings.Contains(stderr, "--help") {
			t.Errorf("%s: the exit code is %d, want %d and %q on standard error\n%s", flags, code, exitUsage, says, stderr)
		}
	}
}

func TestTheScenarioMessagesHasItsOwnDefaults(t *testing.T) {
	for scenario, want := range map[string]loadgen.Options{
		"rank":     {Members: 10_000, Skew: loadgen.Uniform, Batch: loadgen.Mixed, Verify: true},
		"messages": {Members: 1_000_000, Skew: loadgen.Zipf, Batch: "100", Verify: false},
	} {
		f := flags{Options: loadgen.Options{Concurrency: 1, Duration: 1, Members: 10_000, Guilds: 1}, scenario: scenario, skew: "uniform", batch: "100"}
		o, err := f.options(func(string) bool { return false }, []string{"LEVELBOARD_ADMIN_TOKEN=x"})
		if err != nil || o.Members != want.Members || o.Skew != want.Skew || o.Batch != want.Batch || o.Verify != want.Verify || o.URL != "http://127.0.0.1:8080" {
			t.Errorf("the options of %s are %+v (%v), want %+v", scenario, o, err, want)
		}
	}
}
