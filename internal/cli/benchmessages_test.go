package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBenchRecordsTheSameFileTwice(t *testing.T) {
	dir := t.TempDir()
	var contents []string
	for _, name := range []string{"a.gz", "b.gz"} {
		path := filepath.Join(dir, name)
		out := succeed(t, nil, "", "bench", "--scenario", "messages", "--record", path, "--messages", "500", "--members", "300", "--batch", "mixed", "--seed", "8")
		if !strings.Contains(out, "holds 500 messages, seed 8.") {
			t.Errorf("%s", out)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, string(content))
	}
	if contents[0] != contents[1] || !strings.HasPrefix(contents[0], "\x1f\x8b") {
		t.Error("the same seed made other files, or none that is gzipped")
	}
	r := run(t, nil, "", "bench", "--scenario", "messages", "--record", filepath.Join(dir, "a.gz"))
	if r.code != exitFailed || !strings.Contains(r.stderr, "exists") {
		t.Errorf("a file was written over: exit code %d\n%s", r.code, r.stderr)
	}
}

func TestBenchReplaysWhatItRecorded(t *testing.T) {
	environ, _ := startService(t, "LEVELBOARD_RATE_LIMIT_IDENTITY=0")
	path := filepath.Join(t.TempDir(), "day")
	succeed(t, nil, "", "bench", "--scenario", "messages", "--record", path, "--messages", "400", "--members", "150", "--seed", "8", "--batch", "20")
	r := run(t, environ, "", "bench", "--scenario", "messages", "--replay", path, "--concurrency", "2", "--duration", "1m")
	if r.code != exitOK || !strings.Contains(r.stdout, " 400 in all, 20.0 in a call (batch 20) by ") || !strings.Contains(r.stdout, "Verified: 150 members gained the ") {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	if err := os.WriteFile(path, []byte("a diary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = run(t, environ, "", "bench", "--scenario", "messages", "--replay", path)
	if r.code != exitFailed || !strings.Contains(r.stderr, "not a recording of messages") {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
}

func TestFlagsOfMessages(t *testing.T) {
	for name, flags := range map[string][]string{
		"--batch is for the scenario messages":    {"--batch", "10"},
		"--replay is for the scenario messages":   {"--scenario", "mixed", "--replay", "x"},
		"--batch must be from 1 to 1000 or mixed": {"--scenario", "messages", "--batch", "1001"},
		"--messages says how many to --record":    {"--scenario", "messages", "--messages", "5"},
		"--messages must be at least 1":           {"--scenario", "messages", "--record", "x", "--messages", "0"},
		"so there is no --replay with it":         {"--scenario", "messages", "--record", "x", "--replay", "y"},
		"--seed is what the file says":            {"--scenario", "messages", "--replay", "x", "--seed", "1"},
	} {
		if r := run(t, nil, "", append([]string{"bench"}, flags...)...); r.code != exitUsage || !strings.Contains(r.stderr, name) {
			t.Errorf("%s: exit code %d\n%s", flags, r.code, r.stderr)
		}
	}
}
